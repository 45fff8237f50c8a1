// UTF-8: every character, every split, and the first wrong byte.
#include "websocket/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace TURTLE_SERVER {
namespace {

auto Encoded(std::uint32_t code) -> std::string {
  std::string text;
  if (code < 0x80) {
    text = {static_cast<char>(code)};
  } else if (code < 0x800) {
    text = {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
  } else if (code < 0x10000) {
    text = {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
            static_cast<char>(0x80 | (code & 0x3F))};
  } else {
    text = {static_cast<char>(0xF0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 0x3F)),
            static_cast<char>(0x80 | (code >> 6 & 0x3F)), static_cast<char>(0x80 | (code & 0x3F))};
  }
  return text;
}

auto IsUtf8(std::string_view text) -> bool {
  Utf8Validator validator;
  return validator.Add(text) && validator.IsComplete();
}

TEST(Utf8Test, TakesEveryCharacterButHalvesOfPairs) {
  for (std::uint32_t code = 0; code < 0x120000; ++code) {
    const bool is_character = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    ASSERT_EQ(IsUtf8(Encoded(code)), is_character) << std::hex << code;
  }
}

TEST(Utf8Test, RefusesLongSpellings) {
  EXPECT_TRUE(IsUtf8("/"));
  EXPECT_FALSE(IsUtf8("\xC0\xAF"));
  EXPECT_FALSE(IsUtf8("\xC1\xBF"));
  EXPECT_FALSE(IsUtf8("\xE0\x9F\xBF"));
  EXPECT_FALSE(IsUtf8("\xF0\x8F\xBF\xBF"));
}

TEST(Utf8Test, RefusesBytesThatBeginNoCharacter) {
  for (int byte = 0x80; byte < 0x100; ++byte) {
    const bool may_begin = byte >= 0xC2 && byte <= 0xF4;
    Utf8Validator validator;
    EXPECT_EQ(validator.Add(std::string(1, static_cast<char>(byte))), may_begin) << byte;
    EXPECT_FALSE(may_begin && validator.IsComplete());
  }
}

TEST(Utf8Test, SeesTheSameInEverySplit) {
  const std::string text = "a long text in ASCII, \xC3\xA4, \xE2\x82\xAC and \xF0\x9F\x90\xA2.";
  for (std::size_t i = 0; i <= text.size(); ++i) {
    for (std::size_t j = i; j <= text.size(); ++j) {
      Utf8Validator validator;
      ASSERT_TRUE(validator.Add(std::string_view(text).substr(0, i)));
      ASSERT_TRUE(validator.Add(std::string_view(text).substr(i, j - i)));
      ASSERT_TRUE(validator.Add(std::string_view(text).substr(j)));
      ASSERT_TRUE(validator.IsComplete());
    }
  }
}

TEST(Utf8Test, RefusesAtTheFirstWrongByte) {
  Utf8Validator validator;
  EXPECT_TRUE(validator.Add("\xED"));  // may become U+D000, or half of a pair
  EXPECT_FALSE(validator.IsComplete());
  EXPECT_FALSE(validator.Add("\xA0"));
  Utf8Validator beyond;
  EXPECT_TRUE(beyond.Add("\xF4"));
  EXPECT_FALSE(beyond.Add("\x90"));
}

}  // namespace
}  // namespace TURTLE_SERVER
