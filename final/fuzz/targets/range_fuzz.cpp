// A Range field, against the reference: "SIZE value", the size of the representation in decimal.
#include <charconv>

#include "http/range.h"
#include "reference/range.h"
#include "targets/check.h"

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  const std::string_view input = fuzz::TextOf(data, size);
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(input.data(), input.data() + input.size(), bytes);
  if (error != std::errc() || end == input.data() + input.size() || *end != ' ') {
    return 0;
  }
  const std::string_view value = input.substr(static_cast<std::size_t>(end - input.data()) + 1);
  const RangeSet set = ParseRange(value, bytes);
  const reference::Ranges expected =
      reference::ReadRanges(value, bytes, RangeSet::kMaxRanges, RangeSet::kMinGap);
  constexpr std::string_view kAnswers = "wpu";
  fuzz::Same("answer", kAnswers[static_cast<std::size_t>(set.GetState())], expected.answer);
  if (expected.answer != 'p') {
    return 0;
  }
  fuzz::Same("number of parts", set.Size(), expected.parts.size());
  for (std::size_t i = 0; i < set.Size(); ++i) {
    fuzz::Same("first byte", set[i].offset, expected.parts[i].first);
    fuzz::Same("last byte", set[i].offset + set[i].length - 1, expected.parts[i].second);
  }
  return 0;
}
