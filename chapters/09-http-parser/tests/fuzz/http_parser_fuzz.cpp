// The parser under libFuzzer. From the chapter's directory:
//
//   clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Isrc -Itests
//       tests/fuzz/http_parser_fuzz.cpp src/http/*.cpp -lgtest -o parser_fuzz
//   ./parser_fuzz -max_len=600
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/head_invariants.h"

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  if (size == 0) {
    return 0;
  }
  // The first byte says how the rest is cut.
  const std::size_t step = data[0] % 64U + 1U;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::size_t> sizes;
  for (std::size_t at = 0; at < input.size(); at += step) {
    sizes.push_back(at);
  }
  sizes.push_back(input.size());
  ParserLimits limits;
  limits.max_target_bytes = 120;
  limits.max_head_bytes = 400;
  limits.max_fields = 6;
  std::string verdict;
  const std::string fault = test::FaultOfParsing(input, sizes, limits, verdict);
  if (!fault.empty()) {
    std::fprintf(stderr, "%s\n", fault.c_str());
    std::abort();
  }
  return 0;
}
