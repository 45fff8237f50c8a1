// Returns the request's body in capitals: curl --data-binary 'hello' .../cgi-bin/upper
//
// A CGI program reads exactly CONTENT_LENGTH bytes; it must not wait for the end of its input
// (RFC 3875, section 4.2).
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace {

auto ContentLength() -> std::uint64_t {
  const char* value = std::getenv("CONTENT_LENGTH");
  const std::string_view text = value != nullptr ? value : "";
  std::uint64_t length = 0;
  std::from_chars(text.data(), text.data() + text.size(), length);
  return length;  // no body: 0
}

auto ToUpper(char c) -> char { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

int main() {
  std::uint64_t left = ContentLength();
  std::cout << "Content-Type: text/plain; charset=utf-8\r\nContent-Length: " << left << "\r\n\r\n";
  std::array<char, 16384> piece;
  while (left > 0) {
    const auto wanted = static_cast<std::streamsize>(std::min<std::uint64_t>(left, piece.size()));
    std::cin.read(piece.data(), wanted);
    const std::streamsize got = std::cin.gcount();
    if (got == 0) {
      return 1;  // the client is gone: the response stays shorter than announced, which shows
    }
    std::transform(piece.begin(), piece.begin() + got, piece.begin(), ToUpper);
    if (!std::cout.write(piece.data(), got)) {
      return 1;
    }
    left -= static_cast<std::uint64_t>(got);
  }
  return std::cout.flush() ? 0 : 1;
}
