// A request's head: whole and in pieces, against the reference. The first byte says how it is cut.
#include "targets/head_check.h"

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  if (size == 0) {
    return 0;
  }
  const std::string_view input = fuzz::TextOf(data + 1, size - 1);
  ParserLimits limits;  // small, so that they are reached
  limits.max_target_bytes = 60;
  limits.max_head_bytes = 300;
  limits.max_fields = 6;
  const std::string whole = fuzz::ParseWhole(input, limits);
  const std::size_t step = data[0] % 32U + 1U;
  std::vector<std::size_t> sizes;
  for (std::size_t at = 0; at < input.size(); at += step) {
    sizes.push_back(at);
  }
  sizes.push_back(input.size());
  fuzz::CheckPieces(input, sizes, limits, whole);
  fuzz::ParseWhole(input, {});
  return 0;
}
