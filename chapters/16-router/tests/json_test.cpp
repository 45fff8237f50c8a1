// JSON from strangers: what is refused, and where it says that the mistake is.
#include "http/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

// What ParseJson() says to `text`.
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

TEST(JsonTest, ANumberBeyondEveryDoubleIsRefused) {
  EXPECT_EQ(Refusal("[1e999]"), "The JSON holds a number that is too large.");
}

TEST(JsonTest, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(FormatJson("a\xff"), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace TURTLE_SERVER
