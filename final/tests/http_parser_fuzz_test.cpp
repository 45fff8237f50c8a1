// Fifty thousand requests that are nearly right, the same in every run. tests/fuzz holds the
// endless version of it.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/head_invariants.h"
#include "support/request_mutator.h"

namespace TURTLE_SERVER {
namespace {

TEST(HttpParserFuzzTest, NearlyRightRequestsKeepTheInvariants) {
  test::RequestMutator mutator(20080);
  ParserLimits limits;
  limits.max_target_bytes = 120;
  limits.max_head_bytes = 400;
  limits.max_fields = 6;
  std::map<std::string, int> verdicts;
  for (int i = 0; i < 50'000; ++i) {
    const std::string input = mutator.Next();
    const auto cuts = mutator.Cuts(input.size());
    std::string verdict;
    ASSERT_EQ(test::FaultOfParsing(input, cuts, limits, verdict), "") << "input " << i << ":\n"
                                                                      << input;
    ++verdicts[verdict.substr(0, verdict.find(' '))];
  }
  // The generator deserves its name only if it reaches every verdict.
  for (const char* verdict : {"done", "more", "400", "414", "431", "501", "505"}) {
    EXPECT_GT(verdicts[verdict], 100) << verdict;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
