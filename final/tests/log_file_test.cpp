#include "log/log_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/unique_fd.h"
#include "log/log.h"
#include "support/captured_stderr.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::LogFolder;

// Returns the bytes that are there by now.
auto ReadAll(int fd) -> std::string {
  std::string text;
  std::array<char, 4096> bytes;
  for (ssize_t count; (count = ::read(fd, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return text;
}

TEST(LogFileTest, AddsToWhatIsThere) {
  const LogFolder folder;
  folder.Write("a.log", "before\n");
  {
    LogFile file(folder.Path("a.log"), 0);
    file.Append("one\n");
    file.Append("two\nthree\n");
    EXPECT_EQ(folder.Read("a.log"), "before\n");
    file.Flush();
    EXPECT_EQ(folder.Read("a.log"), "before\none\ntwo\nthree\n");
    file.Append("last\n");
  }
  EXPECT_EQ(folder.Read("a.log"), "before\none\ntwo\nthree\nlast\n") << "its end is a flush";
}

TEST(LogFileTest, RollsNoFileThatAnotherHasPutThere) {
  const LogFolder folder;
  LogFile file(folder.Path("a.log"), 10);
  file.Append("first\n");
  file.Flush();
  std::filesystem::rename(folder.Path("a.log"), folder.Path("a.log.1"));
  folder.Write("a.log", "theirs\n");
  file.Append("second\n");
  file.Flush();
  EXPECT_EQ(folder.Read("a.log").substr(0, 7), "theirs\n");
  EXPECT_EQ(folder.Read("a.log.1").substr(0, 6), "first\n");
}

TEST(LogFileTest, IsNoBusinessOfOtherUsers) {
  const LogFolder folder;
  const LogFile file(folder.Path("a.log"), 0);
  struct stat status {};
  ASSERT_EQ(::stat(folder.Path("a.log").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0137, 0U);
}

TEST(LogFileTest, WhatCannotBeOpenedIsNamed) {
  const LogFolder folder;
  for (const std::string& path : {folder.Path("none/a.log"), folder.Path()}) {
    try {
      const LogFile file(path, 0);
      FAIL() << path;
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find("log file " + path + ": "), std::string::npos)
          << error.what();
    }
  }
}

TEST(LogFileTest, RollsWithoutLosingOrCuttingALine) {
  const LogFolder folder;
  std::string wanted;
  {
    LogFile file(folder.Path("a.log"), 1000);
    for (int i = 0; i < 500; ++i) {
      const std::string line = "line " + std::to_string(i) + "\n";
      wanted += line;
      file.Append(line);
    }
  }
  const std::vector<std::string> names = folder.Names();  // a.<time>.log …, a.log
  ASSERT_GE(names.size(), 5U);
  ASSERT_EQ(names.back(), "a.log");
  std::string text;
  for (const std::string& name : names) {
    const std::string part = folder.Read(name);
    EXPECT_LE(part.size(), 1000U) << name;
    EXPECT_EQ(part.back(), '\n') << name;
    text += part;
    if (name != "a.log") {
      EXPECT_TRUE(
          std::regex_match(name, std::regex(R"(a\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{6}Z\.log)")))
          << name;
    }
  }
  EXPECT_EQ(text, wanted);
}

// As logrotate(8) does with copytruncate.
TEST(LogFileTest, AFileThatWasTruncatedRollsWhenItIsFullAgain) {
  const LogFolder folder;
  const std::string line = std::string(99, 'x') + "\n";
  LogFile file(folder.Path("a.log"), 1000);
  for (int i = 0; i < 9; ++i) {
    file.Append(line);
  }
  file.Flush();
  ASSERT_EQ(::truncate(folder.Path("a.log").c_str(), 0), 0);
  for (int i = 0; i < 10; ++i) {
    file.Append(line);
    EXPECT_EQ(folder.Names(), std::vector<std::string>{"a.log"}) << i;
  }
  file.Append(line);
  EXPECT_EQ(folder.Names().size(), 2U);
}

// As two servers do while one hands over to the other.
TEST(LogFileTest, WhatOthersAddCountsToo) {
  const LogFolder folder;
  const std::string line = std::string(99, 'x') + "\n";
  LogFile one(folder.Path("a.log"), 1000);
  LogFile other(folder.Path("a.log"), 1000);
  for (int i = 0; i < 5; ++i) {
    one.Append(line);
    one.Flush();
    other.Append(line);
    other.Flush();
  }
  EXPECT_EQ(folder.Names().size(), 1U);
  other.Append(line);
  EXPECT_EQ(folder.Names().size(), 2U);
}

TEST(LogFileTest, ALineLongerThanTheRollSizeGetsAFileOfItsOwn) {
  const LogFolder folder;
  {
    LogFile file(folder.Path("a.log"), 100);
    file.Append("short\n");
    file.Append(std::string(200'000, 'x') + "\n");
    file.Append("short\n");
  }
  EXPECT_EQ(folder.Names().size(), 3U);
  EXPECT_EQ(folder.Read("a.log"), "short\n");
}

TEST(LogFileTest, FollowsAFileThatWasRenamed) {
  const LogFolder folder;
  LogFile file(folder.Path("a.log"), 0);
  file.Append("old\n");
  std::filesystem::rename(folder.Path("a.log"), folder.Path("a.log.1"));
  file.Append("still old\n");
  file.Reopen();
  file.Append("new\n");
  file.Flush();
  EXPECT_EQ(folder.Read("a.log.1"), "old\nstill old\n");
  EXPECT_EQ(folder.Read("a.log"), "new\n");
}

TEST(LogFileTest, KeepsTheOldFileIfThereCanBeNoNewOne) {
  const LogFolder folder;
  std::filesystem::create_directory(folder.Path("logs"));
  LogFile file(folder.Path("logs/a.log"), 0);
  std::filesystem::rename(folder.Path("logs"), folder.Path("moved"));
  file.Reopen();
  file.Append("said all the same\n");
  file.Flush();
  const std::string text = folder.Read("moved/a.log");
  EXPECT_NE(text.find("ERROR log file: reopen " + folder.Path("logs/a.log") +
                      ": No such file or directory\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("said all the same\n"), std::string::npos);
}

// Descriptors may be short just when logrotate wants a new file: that is no reason to fill the old
// one forever.
TEST(LogFileTest, ANewFileIsTriedAgainAndItsLackToldOnce) {
  const LogFolder folder;
  std::filesystem::create_directory(folder.Path("logs"));
  LogFile file(folder.Path("logs/a.log"), 0);
  std::filesystem::rename(folder.Path("logs"), folder.Path("moved"));
  file.Reopen();
  file.Append("one\n");
  file.Append("two\n");
  file.Flush();
  const std::string text = folder.Read("moved/a.log");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  std::filesystem::create_directory(folder.Path("logs"));
  file.Append("three\n");
  file.Flush();
  EXPECT_EQ(folder.Read("logs/a.log"), "three\n");
  EXPECT_EQ(folder.Read("moved/a.log"), text);
}

TEST(LogFileTest, AFifoWhoseReaderHasGoneIsNoReasonToDie) {
  const LogFolder folder;
  ASSERT_EQ(::mkfifo(folder.Path("fifo").c_str(), 0600), 0);
  UniqueFd reader(::open(folder.Path("fifo").c_str(), O_RDONLY | O_NONBLOCK));
  LogFile file(folder.Path("fifo"), 0);
  reader.Reset();
  file.Append("to nobody\n");
  file.Flush();  // a write(2) of ours would raise SIGPIPE
  reader.Reset(::open(folder.Path("fifo").c_str(), O_RDONLY | O_NONBLOCK));
  file.Append("to somebody\n");
  file.Flush();
  const std::string text = ReadAll(reader.Get());
  EXPECT_NE(text.find("WARN 1 lines of log are missing here\nto somebody\n"), std::string::npos)
      << text;
}

TEST(LogFileTest, AFifoThatIsFullTakesAPartAndTheRestIsCounted) {
  const LogFolder folder;
  ASSERT_EQ(::mkfifo(folder.Path("fifo").c_str(), 0600), 0);
  const UniqueFd reader(::open(folder.Path("fifo").c_str(), O_RDONLY | O_NONBLOCK));
  LogFile file(folder.Path("fifo"), 0);
  const std::string wanted(96, 'x');
  constexpr int kLines = 5000;  // more than there is room for
  for (int i = 0; i < kLines; ++i) {
    file.Append(wanted + "\n");
  }
  file.Flush();
  std::string text = ReadAll(reader.Get());
  file.Append("there is room again\n");
  file.Flush();
  text += ReadAll(reader.Get());
  std::istringstream lines(text);
  int whole = 0;
  int missing = 0;
  int others = 0;
  for (std::string line; std::getline(lines, line) && line != "there is room again";) {
    const std::size_t loss = line.find("Z WARN ");
    missing += loss == std::string::npos ? 0 : std::stoi(line.substr(loss + 7));
    whole += line == wanted ? 1 : 0;
    others += loss == std::string::npos && line != wanted ? 1 : 0;
  }
  EXPECT_GT(missing, 0);
  EXPECT_EQ(whole + missing, kLines);
  EXPECT_LE(others, 1) << "half a line, where the room ended";
}

TEST(LogFileTest, ARollThatFailedHalfwayComesBack) {
  const LogFolder folder;
  const std::string line(99, 'x');
  LogFile file(folder.Path("a.log"), 1000);
  for (int i = 0; i < 10; ++i) {
    file.Append(line + "\n");
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  file.Append(line + "\n");  // it can be renamed, but no new one opened
  file.Flush();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(std::filesystem::exists(folder.Path("a.log")));
  file.Append(line + "\n");
  file.Flush();
  EXPECT_EQ(folder.Read("a.log"), line + "\n");
}

#ifdef __linux__
TEST(LogFileTest, AFullDiskCostsLinesAndIsTold) {
  // A limit on the size of files is as good as a full disk: write(2) fails with EFBIG.
  const LogFolder folder;
  LogFile file(folder.Path("a.log"), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  file.Append("lost\nlost\n");
  file.Flush();
  file.Append("lost too\n");
  file.Flush();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  file.Append("there is room again\n");
  file.Flush();
  const std::string text = folder.Read("a.log");
  EXPECT_NE(text.find("WARN 3 lines of log are missing here\nthere is room again\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("lost\n"), std::string::npos);
}

// Keeps files from growing for as long as it lives.
class FullDisk {
 public:
  explicit FullDisk(rlim_t size) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{size, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

  FullDisk(const FullDisk&) = delete;
  auto operator=(const FullDisk&) -> FullDisk& = delete;

 private:
  rlimit before_{};
};

TEST(LogFileTest, OnlyWhatDidNotGetThereIsMissingAndHalfALineIsEnded) {
  const LogFolder folder;
  LogFile file(folder.Path("a.log"), 0);
  {
    const FullDisk disk(25);
    for (int i = 0; i < 5; ++i) {
      file.Append("line " + std::to_string(i) + "xxx\n");
    }
    file.Flush();
  }
  file.Append("there is room again\n");
  file.Flush();
  const std::string text = folder.Read("a.log");
  EXPECT_EQ(text.substr(0, 26), "line 0xxx\nline 1xxx\nline \n");
  EXPECT_NE(text.find("WARN 3 lines of log are missing here\nthere is room again\n"),
            std::string::npos)
      << text;
}

TEST(LogFileTest, HalfALineThatWasTruncatedAwayNeedsNoEnd) {
  const LogFolder folder;
  LogFile file(folder.Path("a.log"), 0);
  {
    const FullDisk disk(5);
    file.Append("line 0\n");
    file.Flush();
  }
  ASSERT_EQ(::truncate(folder.Path("a.log").c_str(), 0), 0);
  file.Append("line 1\n");
  file.Flush();
  EXPECT_NE(folder.Read("a.log").substr(0, 1), "\n");
}

TEST(LogFileTest, ItsTroublesCanBeToldByLog) {
  const LogFolder folder;
  std::filesystem::create_directory(folder.Path("logs"));
  const test::CapturedStderr captured;
  LogFile file(folder.Path("logs/a.json"), 0, Log);
  std::filesystem::rename(folder.Path("logs"), folder.Path("moved"));
  file.Reopen();
  {
    const FullDisk disk(0);
    file.Append("{}\n{}\n");
    file.Flush();
  }
  file.CountLost(2);
  file.Append("{}\n");
  file.Flush();
  EXPECT_EQ(folder.Read("moved/a.json"), "{}\n");
  EXPECT_NE(captured.Text().find("ERROR log file: reopen " + folder.Path("logs/a.json") +
                                 ": No such file or directory\n"),
            std::string::npos)
      << captured.Text();
  EXPECT_NE(captured.Text().find("WARN log file: 4 lines are missing in " +
                                 folder.Path("logs/a.json") + "\n"),
            std::string::npos)
      << captured.Text();
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
