#include "log/log_level.h"

#include <gtest/gtest.h>

namespace TURTLE_SERVER {
namespace {

TEST(LogLevelTest, IsReadByNumberAndByName) {
  EXPECT_EQ(ParseLogLevel("0"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("4"), LogLevel::kFatal);
  EXPECT_EQ(ParseLogLevel("info"), LogLevel::kInfo);
  EXPECT_EQ(ParseLogLevel("Warn"), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("WARNING"), LogLevel::kWarning);
  for (const char* wrong : {"", "5", "-1", "01", " 1", "infos", "WARNIN"}) {
    EXPECT_EQ(ParseLogLevel(wrong), std::nullopt) << wrong;
  }
}

TEST(LogLevelTest, EachNameIsReadAgain) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning,
                               LogLevel::kError, LogLevel::kFatal}) {
    EXPECT_EQ(ParseLogLevel(NameOf(level)), level) << NameOf(level);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
