#include "log/log.h"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/captured_stderr.h"

namespace TURTLE_SERVER {
namespace {

using test::CapturedStderr;

TEST(Log, WritesALineWithTimeLevelAndText) {
  const CapturedStderr captured;
  Log(LogLevel::kInfo, "it runs");
  Log(LogLevel::kWarning, "it walks");
  Log(LogLevel::kError, "it lies");
  const std::string time = R"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d\d\dZ )";
  const std::regex lines(time + "INFO it runs\n" + time + "WARN it walks\n" + time +
                         "ERROR it lies\n");
  EXPECT_TRUE(std::regex_match(captured.Text(), lines)) << captured.Text();
}

TEST(Log, ATextCannotForgeASecondLine) {
  const CapturedStderr captured;
  Log(LogLevel::kInfo, "GET /\r\n2026-01-01T00:00:00.000Z ERROR \x1b[31mred\x7f alert");
  const std::string line = captured.Text();
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  EXPECT_NE(line.find("GET /??2026"), std::string::npos) << line;
  EXPECT_NE(line.find("ERROR ?[31mred? alert"), std::string::npos) << line;
}

TEST(Log, KeepsLettersOutsideAscii) {
  const CapturedStderr captured;
  Log(LogLevel::kInfo, "caf\xc3\xa9");
  EXPECT_NE(captured.Text().find("caf\xc3\xa9\n"), std::string::npos);
}

TEST(Log, CutsALongTextAndStillEndsTheLine) {
  const CapturedStderr captured;
  Log(LogLevel::kInfo, std::string(100000, 'x'));
  const std::string line = captured.Text();
  EXPECT_LE(line.size(), 1024U);
  EXPECT_GT(line.size(), 900U);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(Log, SaysWhoseExceptionItIsAndWhy) {
  const CapturedStderr captured;
  try {
    throw std::runtime_error("no luck");
  } catch (...) {
    LogException("a game");
  }
  try {
    throw 7;
  } catch (...) {
    LogException(std::string_view("a number and more").substr(0, 8));
  }
  EXPECT_NE(captured.Text().find(" ERROR a game threw: no luck\n"), std::string::npos);
  EXPECT_NE(captured.Text().find(" ERROR a number threw something that is no std::exception\n"),
            std::string::npos);
}

TEST(Log, LinesOfSeveralThreadsNeverMix) {
  const CapturedStderr captured;
  std::vector<std::thread> threads;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    threads.emplace_back([letter] {
      for (int i = 0; i < 200; ++i) {
        Log(LogLevel::kInfo, std::string(100, letter));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::istringstream lines(captured.Text());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_GT(line.size(), 100U);
    EXPECT_EQ(line.substr(line.size() - 100), std::string(100, line.back()));
  }
  EXPECT_EQ(count, 800);
}

}  // namespace
}  // namespace TURTLE_SERVER
