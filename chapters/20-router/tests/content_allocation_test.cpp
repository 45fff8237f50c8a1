// Queries and cookies are read into reused memory.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "http/cookies.h"
#include "http/form.h"
#include "http/json.h"
#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

// Returns how many allocations `round` costs once it has run.
template <class Round>
auto WarmCost(Round round) -> std::size_t {
  test::counts_allocations = true;
  round();
  const std::size_t warm = test::allocations;
  for (int i = 0; i < 100; ++i) {
    round();
  }
  return test::allocations - warm;
}

TEST(ContentAllocationTest, AFormUsesItsMemoryAgain) {
  Form form;
  EXPECT_EQ(WarmCost([&] {
              EXPECT_FALSE(form.Parse("a=1&name=Ada+Lovelace+and+a+value+of+some+length&b=%41"));
              EXPECT_FALSE(form.Parse("short=1"));
            }),
            0U);
}

TEST(ContentAllocationTest, CookiesUseTheirMemoryAgain) {
  Headers fields;
  fields.Add("Cookie", "a=1; b=2; c=3; d=4; e=5");
  Cookies cookies;
  EXPECT_EQ(WarmCost([&] { EXPECT_FALSE(cookies.Parse(fields)); }), 0U);
}

// With a callback the parser records every level and every key.
TEST(ContentAllocationTest, JsonCostsWhatItsValueAndTheParserCost) {
  const std::string text =
      R"({"name":"a name of more than some letters","list":[1,2,[3,{"x":[]}]]})";
  const std::size_t plain =
      WarmCost([&] { const auto parsed = nlohmann::json::parse(text.begin(), text.end()); });
  EXPECT_EQ(WarmCost([&] { static_cast<void>(ParseJson(text)); }), plain);
}

}  // namespace
}  // namespace TURTLE_SERVER
