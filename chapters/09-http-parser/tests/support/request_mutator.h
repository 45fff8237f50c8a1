// Makes requests that are nearly right: those that a parser gets wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER::test {

/// Makes the same requests for the same seed, on every machine.
class RequestMutator {
 public:
  explicit RequestMutator(std::uint32_t seed) : random_(seed) {}

  /// Returns another request: half are left as composed, the others damaged up to four times.
  auto Next() -> std::string {
    std::string text = Compose();
    if (Below(2) == 0) {
      for (std::size_t i = Below(4) + 1; i > 0; --i) {
        Damage(text);
      }
    }
    return text;
  }

  /// Returns 0 to bound - 1. (std::uniform_int_distribution differs between libraries.)
  auto Below(std::size_t bound) -> std::size_t { return random_() % bound; }

  /// Returns ascending sizes that end with `size`: how a text of that size arrives.
  auto Cuts(std::size_t size) -> std::vector<std::size_t> {
    const std::size_t step = Below(3) == 0 ? 1 : Below(60) + 1;
    std::vector<std::size_t> sizes;
    for (std::size_t at = 0; at < size; at += Below(step) + 1) {
      sizes.push_back(at);
    }
    sizes.push_back(size);
    return sizes;
  }

 private:
  template <std::size_t N>
  auto Pick(const std::string_view (&choices)[N]) -> std::string_view {
    return choices[Below(N)];
  }

  auto Compose() -> std::string {
    static constexpr std::string_view kMethods[] = {"GET",     "HEAD",    "POST", "PUT", "OPTIONS",
                                                    "CONNECT", "OPTIONS", "BREW", "get", "PRI"};
    static constexpr std::string_view kTargets[] = {
        "/",         "/index.html", "/a%20b?c=d", "*",     "http://b/x?y", "/a/./b/../c//d",
        "/%2e%2e/x", "/a%00b",      "b:443",      "/a\\b", "/%2",          "//a/%41%c3%a4/..?#"};
    static constexpr std::string_view kVersions[] = {"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0",
                                                     "HTTP/1.2", "HTTP/2.0", "HTTP/1"};
    static constexpr std::string_view kFields[] = {
        "Host: b",
        "Host: localhost:80",
        "Host: [::1]",
        "Host: a b",
        "Content-Length: 5",
        "Content-Length: 18446744073709551616",
        "Content-Length: 5, 5",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, identity",
        "Connection: close",
        "Connection: keep-alive, Upgrade",
        "Expect: 100-continue",
        "Expect: else",
        "Accept: */*",
        "X-Folded: a\r\n b",
        "X-Space : a",
        "X-Empty:",
        "X-Tab:\ta\tb\t",
    };
    std::string text = Below(8) == 0 ? "\r\n" : "";
    text.append(Pick(kMethods)).append(" ").append(Pick(kTargets)).append(" ");
    text.append(Pick(kVersions)).append("\r\n");
    if (Below(4) != 0) {
      text.append("Host: a\r\n");
    }
    for (std::size_t i = Below(6); i > 0; --i) {
      text.append(Pick(kFields)).append("\r\n");
    }
    return text.append("\r\n").append(Below(2) == 0 ? "" : "hello");
  }

  void Damage(std::string& text) {
    static constexpr std::string_view kBytes[] = {"\r", "\n", "\r\n", " ",    "\t",   ":", ",", "%",
                                                  "/",  "..", "\x7f", "\x80", "\x0b", "#", "\\"};
    const std::size_t at = Below(text.size() + 1);
    switch (Below(6)) {
      case 0:
        text.insert(at, Pick(kBytes));
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(Below(256)));
        break;
      case 2:
        text.erase(at, Below(4) + 1);
        break;
      case 3:
        text.insert(at, text.substr(Below(text.size() + 1), Below(40)));
        break;
      case 4:
        text.insert(at, Below(300), 'x');
        break;
      default:
        text.resize(at);
        break;
    }
  }

  std::mt19937 random_;
};

}  // namespace TURTLE_SERVER::test
