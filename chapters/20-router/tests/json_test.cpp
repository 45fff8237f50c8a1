// JSON from strangers: what is refused, and where the mistake is reported.
#include "http/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

// Returns the message of ParseJson() for `text`.
auto Refusal(std::string_view text) -> std::string {
  try {
    static_cast<void>(ParseJson(text));
  } catch (const HttpError& error) {
    EXPECT_EQ(error.Status(), 400);
    return error.what();
  }
  return "";
}

auto Nested(int depth) -> std::string {
  const auto count = static_cast<std::size_t>(depth);
  return std::string(count, '[') + std::string(count, ']');
}

constexpr std::string_view kTooDeep = "The JSON is deeper than 64 levels.";

TEST(JsonTest, ValuesComeBackAsTheyWere) {
  for (const char* text : {"null", "true", "-7", "2.5", R"("a\"b")", "[]", R"({"a":[1,{}]})"}) {
    EXPECT_EQ(FormatJson(ParseJson(text)), text);
  }
}

TEST(JsonTest, AMistakeHasALineAndAColumn) {
  EXPECT_EQ(Refusal("{\"a\": 1,\n \"b\": x}"),
            "The JSON is wrong at line 2, column 7: unexpected 'x'.");
  EXPECT_EQ(Refusal("[1,"), "The JSON is wrong at line 1, column 4: unexpected end.");
  EXPECT_EQ(Refusal(""), "The JSON is wrong at line 1, column 1: unexpected end.");
  EXPECT_EQ(Refusal("\"\xff\""), "The JSON is wrong at line 1, column 2: unexpected byte 0xff.");
  EXPECT_EQ(Refusal("/* */ 1"), "The JSON is wrong at line 1, column 1: unexpected '/'.");
  for (const char* bad : {"{a: 1}", "'a'", "[1,]", "01", "NaN", "nul", "\"\xff\"", "1 1",
                          "\"a\nb\"", "/* */ 1", "\xef\xbb"}) {
    EXPECT_NE(Refusal(bad), "") << bad;
  }
}

TEST(JsonTest, ANulIsNotTheEnd) {
  using namespace std::string_view_literals;
  EXPECT_EQ(Refusal("{\"a\":1}\0x"sv),
            "The JSON is wrong at line 1, column 8: unexpected byte 0x00.");
  EXPECT_EQ(Refusal("{\"a\":1}\n \0"sv),
            "The JSON is wrong at line 2, column 2: unexpected byte 0x00.");
  for (const std::string_view bad : {"1\0"sv, "null\0"sv, "\"a\"\0"sv, "[]\0\0"sv, "\0"sv, "\0 1"sv,
                                     "[\0]"sv, "[1\0]"sv, "\"\0\""sv, "1 \0 2"sv, "1\0}"sv}) {
    EXPECT_NE(Refusal(bad).find("unexpected byte 0x00"), std::string::npos) << Refusal(bad);
  }
  EXPECT_EQ(Refusal("\"\\u0000\""), "") << "escaped, it is a character like any other";
}

TEST(JsonTest, TheBytesOfTheClientAreNotInTheText) {
  EXPECT_EQ(Refusal("[\"<script>\\u00\"]").find("script"), std::string::npos);
  EXPECT_EQ(Refusal("{\"; expected \": <script>}").find("script"), std::string::npos);
}

TEST(JsonTest, DepthIsLimited) {
  EXPECT_EQ(Refusal(Nested(kMaxJsonDepth)), "");
  EXPECT_EQ(Refusal(Nested(kMaxJsonDepth + 1)), "The JSON is deeper than 64 levels.");
  EXPECT_EQ(Refusal(Nested(1'000'000)), "The JSON is deeper than 64 levels.");
}

TEST(JsonTest, BracketsInTextsAreNoDepth) {
  const std::string many(1000, '[');
  EXPECT_EQ(Refusal("\"" + many + "\""), "");
  EXPECT_EQ(Refusal(R"({"a\"":")" + many + R"(\"","b":[1]})"), "");
  EXPECT_EQ(Refusal(R"(["\\\"",")" + many + R"("])"), "");
  EXPECT_EQ(Refusal(R"(["\\",")" + many + R"("])"), "");
  EXPECT_EQ(Refusal(R"(["\\",)" + Nested(kMaxJsonDepth - 1) + "]"), "");
  EXPECT_EQ(Refusal(R"(["\\",)" + Nested(kMaxJsonDepth) + "]"), kTooDeep);
  EXPECT_EQ(Refusal(R"(["]]]]",)" + Nested(kMaxJsonDepth) + "]"), kTooDeep);
  EXPECT_EQ(Refusal(R"({"}\"}":)" + Nested(kMaxJsonDepth) + "}"), kTooDeep);
}

TEST(JsonTest, ManyBesideEachOtherAreNoDepth) {
  std::string many = "[{}";
  for (int i = 0; i < 1000; ++i) {
    many += R"(,{"a":[]})";
  }
  EXPECT_EQ(Refusal(many + "]"), "");
  EXPECT_EQ(Refusal(many + "," + Nested(kMaxJsonDepth - 1) + "]"), "");
  EXPECT_EQ(Refusal(many + "," + Nested(kMaxJsonDepth) + "]"), kTooDeep);
}

// The first fault is reported, whatever follows.
TEST(JsonTest, AMistakeBeforeTheDepthIsTheMistake) {
  using namespace std::string_view_literals;
  const std::string deep = Nested(kMaxJsonDepth + 1);
  EXPECT_EQ(Refusal("x" + deep), "The JSON is wrong at line 1, column 1: unexpected 'x'.");
  EXPECT_EQ(Refusal("[1 " + deep), "The JSON is wrong at line 1, column 4: unexpected '['.");
  EXPECT_EQ(Refusal("[]\n" + deep), "The JSON is wrong at line 2, column 1: unexpected '['.");
  EXPECT_EQ(Refusal("[1e999," + deep), "The JSON holds a number that is too large.");
  EXPECT_EQ(Refusal(std::string("1\0"sv) + deep),
            "The JSON is wrong at line 1, column 2: unexpected byte 0x00.");
  EXPECT_EQ(Refusal("]]]]" + deep), "The JSON is wrong at line 1, column 1: unexpected ']'.");
  EXPECT_EQ(Refusal("\"" + deep), "The JSON is wrong at line 1, column 132: unexpected end.");
  EXPECT_EQ(Refusal("[" + deep + "x"), kTooDeep);
  EXPECT_EQ(Refusal("[\"\x01\"," + deep),
            "The JSON is wrong at line 1, column 3: unexpected byte 0x01.");
  EXPECT_EQ(Refusal(std::string(kMaxJsonDepth, '[') + "x" + deep),
            "The JSON is wrong at line 1, column 65: unexpected 'x'.");
}

TEST(JsonTest, AtTheLimitEveryMistakeIsStillFound) {
  const std::string open(kMaxJsonDepth, '[');
  EXPECT_EQ(Refusal(open), "The JSON is wrong at line 1, column 65: unexpected end.");
  EXPECT_EQ(Refusal(open + "["), kTooDeep);
  EXPECT_EQ(Refusal(open + "{"), kTooDeep);
  EXPECT_EQ(Refusal(open + "\"["), "The JSON is wrong at line 1, column 67: unexpected end.");
}

TEST(JsonTest, OfTwoEqualKeysTheLastCounts) {
  EXPECT_EQ(FormatJson(ParseJson(R"({"a":{"b":1},"a":{"c":[2]}})")), R"({"a":{"c":[2]}})");
}

TEST(JsonTest, ANumberBeyondEveryDoubleIsRefused) {
  EXPECT_EQ(Refusal("[1e999]"), "The JSON holds a number that is too large.");
}

TEST(JsonTest, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(FormatJson("a\xff"), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace TURTLE_SERVER
