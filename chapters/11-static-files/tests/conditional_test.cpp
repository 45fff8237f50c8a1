#include "http/conditional.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace TURTLE_SERVER {
namespace {

using Action = ConditionResult::Action;
using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

constexpr HttpTime kNow{1750000000};
constexpr HttpTime kModified{784111777};
constexpr std::string_view kBefore = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr std::string_view kSame = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view kAfter = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr std::string_view kNoDate = "yesterday";

const Validators kStrong{"\"a\"", true, kModified, true};
const Validators kWeak{"\"a\"", false, kModified, true};
const Validators kDateOnly{"", true, kModified, true};
const Validators kNothing{};

auto Evaluate(const Fields& fields, const Validators& validators = kStrong,
              Method method = Method::kGet) -> ConditionResult {
  Headers headers;
  for (const auto& [name, value] : fields) {
    headers.Add(name, value);
  }
  return EvaluateConditions(method, headers, validators, kNow);
}

auto ActionFor(const Fields& fields, const Validators& validators = kStrong,
               Method method = Method::kGet) -> Action {
  return Evaluate(fields, validators, method).action;
}

TEST(ConditionalTest, WithoutConditionsItIsServedAndRangeApplies) {
  const ConditionResult result = Evaluate({});
  EXPECT_EQ(result.action, Action::kServe);
  EXPECT_TRUE(result.range_applies);
  EXPECT_FALSE(Evaluate({}, kStrong, Method::kHead).range_applies);
  EXPECT_FALSE(Evaluate({}, kStrong, Method::kPost).range_applies);
}

TEST(ConditionalTest, IfMatchComparesStrongly) {
  EXPECT_EQ(ActionFor({{"If-Match", "\"a\""}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Match", "\"b\", \"a\""}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Match", "*"}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Match", "\"b\""}}), Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Match", "W/\"a\""}}), Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Match", "\"a\""}}, kWeak), Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Match", ""}}), Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Match", "\"\""}}, kNothing), Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Match", "*"}}, {"", false, {}, false}, Method::kPut),
            Action::kPreconditionFailed);
}

TEST(ConditionalTest, IfNoneMatchComparesWeakly) {
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"a\""}}), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-None-Match", "W/\"a\""}}), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"a\""}}, kWeak), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-None-Match", "*"}}), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"a\""}}, kStrong, Method::kHead), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"b\""}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"a\""}}, kDateOnly), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"a\""}}, kStrong, Method::kPut),
            Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-None-Match", "*"}}, {"", false, {}, false}, Method::kPut),
            Action::kServe);
}

TEST(ConditionalTest, KnowsWhetherThereIsAnythingToEvaluate) {
  for (const char* name :
       {"If-Match", "If-Unmodified-Since", "If-None-Match", "If-Modified-Since", "If-Range"}) {
    Headers fields;
    fields.Add("Range", "bytes=0-1");
    EXPECT_FALSE(HasConditions(fields));
    fields.Add(name, "\"a\"");
    EXPECT_TRUE(HasConditions(fields)) << name;
  }
}

TEST(ConditionalTest, TagsAreReadAsTheyAreWritten) {
  const Validators comma{"\"x,y\"", true, {}, true};
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"x,y\""}}, comma), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"q\" ,, W/\"r\"\t,\"x,y\""}}, comma),
            Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"x\",\"y\""}}, comma), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"b\""}, {"If-None-Match", "\"a\""}}),
            Action::kNotModified);  // two lines are one list
  for (const char* malformed :
       {"a", "\"a", "a\"", "w/\"a\"", "W/ \"a\"", "\"b\" \"a\"", "*, \"a\"", "\"a\"x", "\"\"a\"\"",
        "'a'", "W/a", "\"a\"*", "\"b b\", \"a\"", "\"b\tb\", \"a\"", "\"b\x7f\", \"a\""}) {
    EXPECT_EQ(ActionFor({{"If-None-Match", malformed}}), Action::kServe) << malformed;
    EXPECT_EQ(ActionFor({{"If-Match", malformed}}), Action::kPreconditionFailed) << malformed;
  }
}

TEST(ConditionalTest, IfModifiedSince) {
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kBefore}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kSame}}), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kAfter}}), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT"}}),
            Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kAfter}}, kStrong, Method::kHead),
            Action::kNotModified);
  // Ignored: another method, no date, two dates, nothing to compare with.
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kAfter}}, kStrong, Method::kPost), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kNoDate}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kAfter}, {"If-Modified-Since", kAfter}}),
            Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kAfter}}, kNothing), Action::kServe);
}

TEST(ConditionalTest, IfUnmodifiedSince) {
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kBefore}}), Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kSame}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kAfter}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kBefore}}, kStrong, Method::kPut),
            Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kNoDate}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kBefore}}, kNothing), Action::kServe);
}

// RFC 9110, section 13.2.2: each rule is decided by two fields that disagree.
TEST(ConditionalTest, Precedence) {
  // A tag that matches overrules a date that doesn't, and the other way round.
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kBefore}, {"If-Match", "\"a\""}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kAfter}, {"If-Match", "\"b\""}}),
            Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kAfter}, {"If-None-Match", "\"b\""}}), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kBefore}, {"If-None-Match", "\"a\""}}),
            Action::kNotModified);
  // "May it be done" comes before "is it needed".
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"a\""}, {"If-Match", "\"b\""}}),
            Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"a\""}, {"If-Match", "\"a\""}}), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-None-Match", "\"a\""}, {"If-Unmodified-Since", kBefore}}),
            Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kSame}, {"If-Unmodified-Since", kSame}}),
            Action::kNotModified);
  // Even an invalid tag list overrules the date.
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kAfter}, {"If-None-Match", "x"}}), Action::kServe);
  // If-Range is evaluated only after the others.
  const ConditionResult result = Evaluate({{"If-None-Match", "\"a\""}, {"If-Range", "\"a\""}});
  EXPECT_EQ(result.action, Action::kNotModified);
  EXPECT_FALSE(result.range_applies);
}

TEST(ConditionalTest, IfRangeNeedsProof) {
  const auto applies = [](std::string_view value, const Validators& validators) {
    const ConditionResult result = Evaluate({{"If-Range", value}}, validators);
    EXPECT_EQ(result.action, Action::kServe);
    return result.range_applies;
  };
  EXPECT_TRUE(applies("\"a\"", kStrong));
  EXPECT_FALSE(applies("\"b\"", kStrong));
  EXPECT_FALSE(applies("W/\"a\"", kStrong));
  EXPECT_FALSE(applies("\"a\"", kWeak));
  EXPECT_FALSE(applies("\"a\", \"b\"", kStrong));  // one tag, not a list
  EXPECT_FALSE(applies("*", kStrong));
  EXPECT_TRUE(applies(kSame, kStrong));
  EXPECT_TRUE(applies(kSame, kDateOnly));
  EXPECT_FALSE(applies(kSame, kWeak));
  EXPECT_FALSE(applies(kBefore, kStrong));
  EXPECT_FALSE(applies(kAfter, kStrong));  // only the same date is proof, a later one is not
  EXPECT_FALSE(applies(kNoDate, kStrong));
  EXPECT_FALSE(applies("", kStrong));
  EXPECT_FALSE(applies(kSame, kNothing));
}

TEST(ConditionalTest, TwoIfRangeProveNothing) {
  EXPECT_FALSE(Evaluate({{"If-Range", "\"a\""}, {"If-Range", "\"a\""}}).range_applies);
}

// A file that was sent within the current second may change again in that second.
TEST(ConditionalTest, ADateWhoseSecondIsNotOverProvesNothing) {
  Validators young = kStrong;
  young.second_over = false;
  EXPECT_FALSE(Evaluate({{"If-Range", kSame}}, young).range_applies);
  EXPECT_TRUE(Evaluate({{"If-Range", "\"a\""}}, young).range_applies);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kBefore}}, young), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kSame}}, young), Action::kServe);
  EXPECT_EQ(ActionFor({{"If-Modified-Since", kAfter}}, young), Action::kNotModified);
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kBefore}}, young), Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kSame}}, young), Action::kPreconditionFailed);
  EXPECT_EQ(ActionFor({{"If-Unmodified-Since", kAfter}}, young), Action::kServe);
  std::string text;
  AppendLastModified(young, text);
  EXPECT_EQ(text, kBefore);
  text.clear();
  AppendLastModified(kStrong, text);
  EXPECT_EQ(text, kSame);
}

TEST(ConditionalTest, WritesTheEtag) {
  std::string text;
  AppendEtag(kStrong, text);
  EXPECT_EQ(text, "\"a\"");
  text.clear();
  AppendEtag(kWeak, text);
  EXPECT_EQ(text, "W/\"a\"");
}

}  // namespace
}  // namespace TURTLE_SERVER
