#include "app/byte_size.h"

#include <charconv>
#include <cstddef>
#include <limits>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kUnits = "kmgt";  // each 1024 of the one before it
constexpr unsigned kBitsPerUnit = 10;

}  // namespace

auto ParseByteSize(std::string_view text) -> std::optional<std::uint64_t> {
  unsigned shift = 0;
  if (!text.empty() && !ascii::IsDigit(text.back())) {
    const std::size_t unit = kUnits.find(ascii::ToLower(text.back()));
    if (unit == std::string_view::npos) {
      return std::nullopt;
    }
    shift = kBitsPerUnit * static_cast<unsigned>(unit + 1);
    text.remove_suffix(1);
  }
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end ||
      number > std::numeric_limits<std::uint64_t>::max() >> shift) {
    return std::nullopt;
  }
  return number << shift;
}

auto FormatByteSize(std::uint64_t bytes) -> std::string {
  std::string unit;
  for (const char next : kUnits) {
    if (bytes == 0 || bytes % 1024 != 0) {
      break;
    }
    bytes /= 1024;
    unit = static_cast<char>(next - 'a' + 'A');
  }
  return std::to_string(bytes) + unit;
}

}  // namespace TURTLE_SERVER
