#include "log/log_line.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

// Returns the line for `text`, without its prefix and the newline.
auto Written(std::string_view text) -> std::string {
  const LogLine line(LogLevel::kInfo, text);
  const std::string_view view = line.View();
  const std::string_view level = " INFO ";
  const std::string_view rest = view.substr(view.find(level) + level.size());
  EXPECT_EQ(rest.back(), '\n');
  return std::string(rest.substr(0, rest.size() - 1));
}

TEST(LogLineTest, TextOfAnyLanguageIsWrittenAsItIs) {
  for (const char* const text : {"plain", "", "Schildkr\u00f6te", "\u9f9f", "\U0001f422", "\u00a0",
                                 "\ue000\uffff", "\U0010ffff"}) {
    EXPECT_EQ(Written(text), text);
  }
}

TEST(LogLineTest, ControlCharactersAreQuestionMarks) {
  EXPECT_EQ(Written("a\nb\x1b[2Jc\x7f"), "a?b?[2Jc?");
  EXPECT_EQ(Written("\u009b2J"), "??2J") << "a terminal may obey it like ESC [";
  EXPECT_EQ(Written("\u0080\u009f"), "????");
}

TEST(LogLineTest, WhatIsNoUtf8IsQuestionMarks) {
  EXPECT_EQ(Written("\x9b"
                    "2J"),
            "?2J");
  EXPECT_EQ(Written("\xe9t\xe9"), "?t?");
  EXPECT_EQ(Written("\xc2"), "?") << "the end is missing";
  EXPECT_EQ(Written("\xe2\x82"
                    "a"),
            "??a");
  EXPECT_EQ(Written("\xc0\xaf\xc1\x9b"), "????") << "longer than need be";
  EXPECT_EQ(Written("\xe0\x82\x9b"), "???") << "U+009B by three bytes";
  EXPECT_EQ(Written("\xf0\x80\x82\x9b"), "????") << "and by four";
  EXPECT_EQ(Written("\xed\xa0\x80"), "???") << "half of a pair";
  EXPECT_EQ(Written("\xf4\x90\x80\x80\xf5\xff"), "??????") << "beyond U+10FFFF";
}

TEST(LogLineTest, NoCharacterIsCutInTwo) {
  std::string text;
  for (int i = 0; i < 600; ++i) {
    text += "\u00e9";
  }
  for (const std::string& each : {text, "x" + text}) {
    const std::string written = Written(each);
    const std::string_view end = std::string_view(written).substr(written.size() - 2);
    EXPECT_TRUE(end == "\u00e9" || end.back() == '?') << written;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
