// Adds two numbers: GET /cgi-bin/add&1&2
//
// The server calls this program in its short form: the parts after each '&' are the arguments, and
// output without a header block is the body, as plain text. A header block is still possible, and
// here it gives an error its own status.
#include <charconv>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string_view>

namespace {

auto ParseNumber(std::string_view text, std::int64_t& number) -> bool {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;  // "12x" stops early; a number too large is an error
}

// Signed overflow is undefined, so it must be detected before it happens.
auto Overflows(std::int64_t a, std::int64_t b) -> bool {
  using Limits = std::numeric_limits<std::int64_t>;
  return b > 0 ? a > Limits::max() - b : a < Limits::min() - b;
}

auto Refuse(std::string_view why) -> int {
  std::cout << "Status: 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n" << why << '\n';
  return std::cout.flush() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t a = 0;
  std::int64_t b = 0;
  if (argc != 3) {
    return Refuse("two numbers, please: /cgi-bin/add&1&2");
  }
  if (!ParseNumber(argv[1], a) || !ParseNumber(argv[2], b)) {
    return Refuse("that is not a pair of whole numbers");
  }
  if (Overflows(a, b)) {
    return Refuse("the sum does not fit into 64 bits");
  }
  std::cout << a << " + " << b << " = " << a + b << '\n';
  return std::cout.flush() ? 0 : 1;
}
