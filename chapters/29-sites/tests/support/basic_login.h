// The field Authorization of requests with a password.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace TURTLE_SERVER::test {

/// Returns the bytes in base64 (RFC 4648, section 4).
inline auto Base64(std::string_view bytes) -> std::string {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    unsigned bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= group.size() ? kDigits[bits >> (18 - 6 * i) & 63U] : '=';
    }
  }
  return text;
}

/// Returns the line "Authorization: Basic …", with its CR LF.
/// @param login "name:password"
inline auto LoginLine(std::string_view login) -> std::string {
  return "Authorization: Basic " + Base64(login) + "\r\n";
}

}  // namespace TURTLE_SERVER::test
