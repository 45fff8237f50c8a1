#include "reference/range.h"

#include <algorithm>
#include <optional>
#include <string>

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

struct Part {
  std::uint64_t first;
  std::uint64_t last;
  std::size_t asked;  // which of the specs asked for it first
};

// A number beyond 64 bits counts as the largest that fits: no file reaches either.
auto NumberOf(std::string_view text) -> std::optional<std::uint64_t> {
  const std::string number = Decimal(text);
  if (number.empty()) {
    return std::nullopt;
  }
  return IsLess("18446744073709551615", number) ? UINT64_MAX : std::stoull(number);
}

// Joins ranges that overlap or nearly touch, until none do.
auto Joined(std::vector<Part> parts, std::uint64_t gap) -> std::vector<Part> {
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.first < b.first; });
  std::vector<Part> joined;
  for (const Part& part : parts) {
    if (!joined.empty() &&
        (part.first <= joined.back().last || part.first - joined.back().last - 1 < gap)) {
      joined.back().last = std::max(joined.back().last, part.last);
      joined.back().asked = std::min(joined.back().asked, part.asked);
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

}  // namespace

auto ReadRanges(std::string_view value, std::uint64_t size, std::size_t most, std::uint64_t gap)
    -> Ranges {
  if (Lower(value.substr(0, 6)) != "bytes=") {
    return {};
  }
  std::vector<Part> parts;
  std::size_t specs = 0;
  for (const std::string_view spec : Elements(value.substr(6))) {
    if (spec.empty()) {
      continue;
    }
    const std::size_t dash = spec.find('-');
    if (dash == std::string_view::npos) {
      return {};
    }
    const std::optional<std::uint64_t> first = NumberOf(spec.substr(0, dash));
    const std::optional<std::uint64_t> last = NumberOf(spec.substr(dash + 1));
    const bool is_range = first && (dash + 1 == spec.size() || (last && *first <= *last));
    const bool is_suffix = dash == 0 && last;
    if (!is_range && !is_suffix) {
      return {};
    }
    ++specs;
    if (is_suffix && *last > 0 && size > 0) {
      parts.push_back({size - std::min(*last, size), size - 1, specs});
    } else if (is_range && *first < size) {
      parts.push_back({*first, std::min(last.value_or(UINT64_MAX), size - 1), specs});
    }
    if (Joined(parts, gap).size() > most) {
      return {};
    }
  }
  if (specs == 0 || size == 0) {
    return {};
  }
  std::vector<Part> joined = Joined(parts, gap);
  std::sort(joined.begin(), joined.end(),
            [](const Part& a, const Part& b) { return a.asked < b.asked; });
  Ranges ranges{joined.empty() ? 'u' : 'p', {}};
  for (const Part& part : joined) {
    ranges.parts.emplace_back(part.first, part.last);
  }
  return ranges;
}

}  // namespace TURTLE_SERVER::reference
