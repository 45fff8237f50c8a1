#include "log/logging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <string>

#include "log/log.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/log_folder.h"
#include "support/stalled_stderr.h"

namespace TURTLE_SERVER {
namespace {

using test::CapturedStderr;
using test::LogFolder;

auto Lines(const std::string& text) -> int {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

TEST(LoggingTest, TakesTheLinesOfLogAndGivesThemBack) {
  const LogFolder folder;
  const CapturedStderr captured;
  {
    LoggingOptions options;
    options.writer.file = folder.Path("a.log");
    const Logging logging(options);
    Log(LogLevel::kInfo, "to the file");
  }
  Log(LogLevel::kInfo, "to stderr");
  EXPECT_NE(folder.Read("a.log").find(" INFO to the file\n"), std::string::npos);
  EXPECT_EQ(Lines(folder.Read("a.log")), 1);
  EXPECT_NE(captured.Text().find(" INFO to stderr\n"), std::string::npos);
  EXPECT_EQ(Lines(captured.Text()), 1);
}

TEST(LoggingTest, LeavesOutWhatIsBelowTheLevel) {
  const CapturedStderr captured;
  EXPECT_FALSE(IsLogged(LogLevel::kDebug)) << "at first";
  EXPECT_TRUE(IsLogged(LogLevel::kInfo));
  {
    LoggingOptions options;
    options.level = LogLevel::kError;
    const Logging logging(options);
    EXPECT_FALSE(IsLogged(LogLevel::kWarning));
    Log(LogLevel::kWarning, "who cares");
    Log(LogLevel::kError, "somebody should");
    Log(LogLevel::kFatal, "too late");
  }
  EXPECT_EQ(Lines(captured.Text()), 2) << captured.Text();
  EXPECT_TRUE(IsLogged(LogLevel::kInfo)) << "as before";
}

TEST(LoggingTest, ThereIsOne) {
  const Logging logging(LoggingOptions{});
  EXPECT_THROW(Logging(LoggingOptions{}), std::logic_error);
}

TEST(LoggingTest, AnErrorIsInTheFileAtOnceAndSoIsAFatalOne) {
  const LogFolder folder;
  LoggingOptions options;
  options.writer.file = folder.Path("a.log");
  options.writer.flush_interval = std::chrono::seconds(0);
  const Logging logging(options);
  Log(LogLevel::kInfo, "later");
  EXPECT_EQ(folder.Read("a.log"), "");
  Log(LogLevel::kError, "now");
  EXPECT_EQ(Lines(folder.Read("a.log")), 2);
}

TEST(LoggingTest, AFatalLineIsWrittenBeforeTheCallReturns) {
  const LogFolder folder;
  LoggingOptions options;
  options.writer.file = folder.Path("a.log");
  options.writer.flush_interval = std::chrono::seconds(0);
  options.writer.by = WriteBy::kThread;
  const Logging logging(options);
  for (int i = 0; i < 1000; ++i) {
    Log(LogLevel::kInfo, "before");
  }
  Log(LogLevel::kFatal, "the end");
  EXPECT_EQ(Lines(folder.Read("a.log")), 1001);
}

TEST(LoggingTest, LinesThatStderrDoesNotTakeAreMissingAndCounted) {
  test::StalledStderr stalled;
  for (int i = 0; i < 1000; ++i) {
    Log(LogLevel::kInfo, "nobody reads this");  // chapter 04's would wait here forever
  }
  EXPECT_EQ(stalled.ReadAll(), "") << "only the filling was there";
  Log(LogLevel::kInfo, "somebody reads again");
  const std::string text = stalled.ReadUntil("again\n");
  EXPECT_NE(text.find("WARN 1000 lines of log are missing here\n"), std::string::npos) << text;
}

TEST(LoggingTest, AFatalLineIsNotWaitedForForEver) {
  const test::StalledStderr stalled;
  const auto say = [](WriteBy by, WhenFull when_full) {
    LoggingOptions options;
    options.writer.by = by;
    options.writer.queue_size = 1;
    options.writer.when_full = when_full;
    options.writer.patience = std::chrono::milliseconds(20);
    const Logging logging(options);
    for (int i = 0; i < 5; ++i) {
      Log(LogLevel::kFatal, "nobody reads this");
    }
  };
  auto done = std::async(std::launch::async, [say] {
    Log(LogLevel::kFatal, "nor this");
    say(WriteBy::kCaller, WhenFull::kDrop);
    say(WriteBy::kThread, WhenFull::kDrop);
    say(WriteBy::kThread, WhenFull::kBlock);
  });
  EXPECT_EQ(done.wait_for(test::kPatience), std::future_status::ready);
}

TEST(LoggingDeathTest, TheEnvironmentSaysFromWhichLevelOn) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // a process that has not logged yet
  ::setenv("MIN_LOG_LEVEL", "3", 1);
  EXPECT_EXIT(
      {
        Log(LogLevel::kWarning, "left out");
        Log(LogLevel::kError, "logged");
        std::exit(IsLogged(LogLevel::kError) && !IsLogged(LogLevel::kWarning) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^[^\n]* ERROR logged\n$");
  ::setenv("MIN_LOG_LEVEL", "loud", 1);
  EXPECT_EXIT(std::exit(IsLogged(LogLevel::kInfo) && !IsLogged(LogLevel::kDebug) ? 0 : 1),
              testing::ExitedWithCode(0), "");
  ::unsetenv("MIN_LOG_LEVEL");
}

}  // namespace
}  // namespace TURTLE_SERVER
