// The level of a log that is already written.
#include <gtest/gtest.h>

#include <string>

#include "log/log.h"
#include "log/logging.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER {
namespace {

TEST(LoggingLevelTest, ChangesWhileItLogs) {
  const bool debug_before = IsLogged(LogLevel::kDebug);
  const bool info_before = IsLogged(LogLevel::kInfo);
  const test::LogFolder folder;
  LoggingOptions options;
  options.writer.file = folder.Path("a.log");
  {
    Logging logging(options);
    logging.SetLevel(LogLevel::kDebug);
    Log(LogLevel::kDebug, "one");
    logging.SetLevel(LogLevel::kFatal);
    Log(LogLevel::kError, "two");
    logging.SetLevel(std::nullopt);
    EXPECT_EQ(IsLogged(LogLevel::kInfo), info_before);
    logging.SetLevel(LogLevel::kDebug);
  }
  EXPECT_EQ(IsLogged(LogLevel::kDebug), debug_before) << "given back at the end";
  const std::string text = folder.Read("a.log");
  EXPECT_NE(text.find("DEBUG one\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("two"), std::string::npos) << text;
}

}  // namespace
}  // namespace TURTLE_SERVER
