// Request heads as clients send them: what the parser's programs measure.
//
// Interface:
//  * kWrk, kCurl, kFirefox, kChrome: one head each, from the shortest to the longest.
//  * ManyFields(): a head with a number of fields of one's own choice, for growth over size.
//
// Thread: constants and a pure function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace TURTLE_SERVER::bench {

/// A load generator: the request line and Host.
inline constexpr std::string_view kWrk =
    "GET /small.html HTTP/1.1\r\n"
    "Host: 127.0.0.1:20080\r\n"
    "\r\n";

/// A program: three fields.
inline constexpr std::string_view kCurl =
    "GET /small.html HTTP/1.1\r\n"
    "Host: 127.0.0.1:20080\r\n"
    "User-Agent: curl/7.88.1\r\n"
    "Accept: */*\r\n"
    "\r\n";

/// A browser that asks for a page, without cookies.
inline constexpr std::string_view kFirefox =
    "GET /chapters/05-timer/ HTTP/1.1\r\n"
    "Host: turtle.example:20080\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,"
    "image/png,image/svg+xml,*/*;q=0.8\r\n"
    "Accept-Language: en-GB,en;q=0.5\r\n"
    "Accept-Encoding: gzip, deflate\r\n"
    "Connection: keep-alive\r\n"
    "Upgrade-Insecure-Requests: 1\r\n"
    "Priority: u=0, i\r\n"
    "\r\n";

/// A browser that asks for a style sheet it has seen before: cookies, hints, validators.
inline constexpr std::string_view kChrome =
    "GET /assets/stylesheets/main.min.css?v=20260301 HTTP/1.1\r\n"
    "Host: turtle.example:20080\r\n"
    "Connection: keep-alive\r\n"
    "Cache-Control: max-age=0\r\n"
    "sec-ch-ua: \"Chromium\";v=\"128\", \"Not;A=Brand\";v=\"24\"\r\n"
    "sec-ch-ua-mobile: ?0\r\n"
    "sec-ch-ua-platform: \"Linux\"\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/128.0.0.0 Safari/537.36\r\n"
    "Accept: text/css,*/*;q=0.1\r\n"
    "Sec-Fetch-Site: same-origin\r\n"
    "Sec-Fetch-Mode: no-cors\r\n"
    "Sec-Fetch-Dest: style\r\n"
    "Referer: http://turtle.example:20080/chapters/05-timer/\r\n"
    "Accept-Encoding: gzip, deflate\r\n"
    "Accept-Language: en-GB,en-US;q=0.9,en;q=0.8\r\n"
    "Cookie: theme=dark; session=5f2b8c1de0a94f7796b3a1c7d2e84b60; seen=01%2C02%2C03%2C04\r\n"
    "If-None-Match: \"66d1c0a4-1f3b2\"\r\n"
    "If-Modified-Since: Fri, 30 Aug 2024 12:53:24 GMT\r\n"
    "\r\n";

/// A head with Host and `count` more fields of about 40 bytes.
inline auto ManyFields(std::size_t count) -> std::string {
  std::string head = "GET / HTTP/1.1\r\nHost: turtle.example\r\n";
  for (std::size_t i = 0; i < count; ++i) {
    head += "X-Turtle-Field-" + std::to_string(100 + i % 900) + ": value of the field\r\n";
  }
  return head + "\r\n";
}

}  // namespace TURTLE_SERVER::bench
