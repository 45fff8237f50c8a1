#include "log/log_writer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "support/client.h"
#include "support/log_folder.h"
#include "support/stalled_stderr.h"

namespace TURTLE_SERVER {
namespace {

using test::LogFolder;
using test::StalledStderr;

auto Line(int number) -> std::string { return "line " + std::to_string(number) + "\n"; }

auto ToFile(const LogFolder& folder, WriteBy by) -> LogWriterOptions {
  LogWriterOptions options;
  options.file = folder.Path("a.log");
  options.by = by;
  options.flush_interval = std::chrono::seconds(0);
  return options;
}

// Options for one entry in the queue of a thread that waits for stderr: it has taken the first,
// "stuck", and can't take more.
auto Stuck(WhenFull when_full) -> LogWriterOptions {
  LogWriterOptions options;
  options.by = WriteBy::kThread;
  options.queue_size = 4;
  options.when_full = when_full;
  options.patience = test::kPatience;
  return options;
}

class LogWriterTest : public testing::TestWithParam<WriteBy> {};
INSTANTIATE_TEST_SUITE_P(By, LogWriterTest, testing::Values(WriteBy::kCaller, WriteBy::kThread),
                         [](const auto& test) {
                           return test.param == WriteBy::kCaller ? "Caller" : "Thread";
                         });

TEST_P(LogWriterTest, EverythingIsInTheFileAtItsEnd) {
  const LogFolder folder;
  std::string wanted;
  {
    LogWriter writer(ToFile(folder, GetParam()));
    for (int i = 0; i < 5000; ++i) {
      wanted += Line(i);
      writer.Write(Line(i));
    }
    EXPECT_EQ(writer.Dropped(), 0U);
  }
  EXPECT_EQ(folder.Read("a.log"), wanted);
}

TEST_P(LogWriterTest, WhoWaitsFindsItInTheFile) {
  const LogFolder folder;
  LogWriter writer(ToFile(folder, GetParam()));
  for (int i = 0; i < 20; ++i) {
    writer.Write("some line\n");
    writer.Write(Line(i), Urgency::kWait);
    const std::string text = folder.Read("a.log");
    EXPECT_EQ(text.substr(text.rfind("some line\n") + 10), Line(i));
  }
}

TEST_P(LogWriterTest, TheFileDoesNotLagBehindForEver) {
  const LogFolder folder;
  LogWriterOptions options = ToFile(folder, GetParam());
  options.flush_interval = std::chrono::seconds(1);
  LogWriter writer(options);
  writer.Write("nobody hurries\n");
  const auto end = std::chrono::steady_clock::now() + test::kPatience;
  while (folder.Read("a.log").empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_EQ(folder.Read("a.log"), "nobody hurries\n");
}

TEST_P(LogWriterTest, FollowsAFileThatWasMoved) {
  const LogFolder folder;
  LogWriter writer(ToFile(folder, GetParam()));
  writer.Write("old\n", Urgency::kWait);
  std::filesystem::rename(folder.Path("a.log"), folder.Path("a.log.1"));
  writer.Reopen();
  writer.Write("new\n", Urgency::kWait);
  EXPECT_EQ(folder.Read("a.log.1"), "old\n");
  EXPECT_EQ(folder.Read("a.log"), "new\n");
}

// Replaces a descriptor by another one, and restores it at its end.
class InPlaceOf {
 public:
  InPlaceOf(int place, int fd) : place_(place), before_(::dup(place)) { ::dup2(fd, place); }
  InPlaceOf(const InPlaceOf&) = delete;
  auto operator=(const InPlaceOf&) -> InPlaceOf& = delete;
  ~InPlaceOf() { ::dup2(before_.Get(), place_); }

 private:
  const int place_;
  const UniqueFd before_;
};

TEST_P(LogWriterTest, AStandardDescriptorIsMeantItself) {
  struct Case {
    const char* file;
    int descriptor;
  };
  const LogFolder folder;
  const std::string link = folder.Path("access.log");  // as in a container
  std::filesystem::create_symlink("/dev/stdout", link);
  for (const Case& each : {Case{"-", STDOUT_FILENO},
                           {"/dev/stdout", STDOUT_FILENO},
                           {"//dev/../dev/stdout", STDOUT_FILENO},
                           {link.c_str(), STDOUT_FILENO},
                           {"/dev/fd/1", STDOUT_FILENO},
                           {"/dev/stderr", STDERR_FILENO}}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    const UniqueFd reader(ends[0]);
    UniqueFd socket(ends[1]);  // as under systemd: open(2) can't open it once more
    std::string said;
    {
      const InPlaceOf place(each.descriptor, socket.Get());
      socket.Reset();
      LogWriterOptions options;
      options.file = each.file;
      options.by = GetParam();
      options.roll_size = 1;
      LogWriter writer(options);
      writer.Write("one\n", Urgency::kWait);
      writer.Reopen();
      writer.Write("two\n", Urgency::kWait);
    }
    std::array<char, 100> bytes{};
    for (ssize_t count; (count = ::recv(reader.Get(), bytes.data(), bytes.size(), 0)) > 0;) {
      said.append(bytes.data(), static_cast<std::size_t>(count));
    }
    EXPECT_EQ(said, "one\ntwo\n") << each.file;
    EXPECT_FALSE(std::filesystem::exists("-"));
  }
}

TEST_P(LogWriterTest, LinesOfSeveralThreadsNeverMix) {
  const LogFolder folder;
  {
    LogWriter writer(ToFile(folder, GetParam()));
    std::vector<std::thread> threads;
    for (char letter = 'a'; letter < 'e'; ++letter) {
      threads.emplace_back([&writer, letter] {
        for (int i = 0; i < 1000; ++i) {
          writer.Write(std::string(100, letter) + "\n");
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  std::istringstream lines(folder.Read("a.log"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_EQ(line, std::string(100, line.front()));
  }
  EXPECT_EQ(count, 4000);
}

// Returns how many lines of Line() a text contains, plus those that it reports as missing.
auto WrittenAndMissing(const std::string& text) -> int {
  std::istringstream lines(text);
  int sum = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t loss = line.find("Z WARN ");
    sum += loss == std::string::npos ? 1 : std::stoi(line.substr(loss + 7));
  }
  return sum;
}

TEST(LogWriterQueueTest, DropsTheOldestWhenItIsFullAndTellsHowManyLines) {
  StalledStderr stalled;
  LogWriter writer(Stuck(WhenFull::kDrop));
  for (int i = 0; i < 100; ++i) {
    writer.Write(Line(i));
  }
  EXPECT_GE(writer.Dropped(), 95U);  // 4 are in the queue, and perhaps one with the thread
  const std::string text = stalled.ReadUntil(Line(99));
  EXPECT_NE(text.find(" lines of log are missing here\n"), std::string::npos) << text;
  EXPECT_NE(text.find(Line(98) + Line(99)), std::string::npos) << text;
  EXPECT_EQ(WrittenAndMissing(text), 100) << text;
}

TEST(LogWriterQueueTest, CountsTheLinesOfABatchAndNotBatches) {
  StalledStderr stalled;
  LogWriter writer(Stuck(WhenFull::kDrop));
  for (int i = 0; i < 300; i += 3) {
    writer.Write(Line(i) + Line(i + 1) + Line(i + 2));
  }
  const std::string text = stalled.ReadUntil(Line(299));
  EXPECT_EQ(WrittenAndMissing(text), 300) << text;
}

TEST(LogWriterQueueTest, TellsAtItsEndTooWhatIsMissing) {
  StalledStderr stalled;
  auto writer = std::make_unique<LogWriter>(Stuck(WhenFull::kDrop));
  for (int i = 0; i < 100; ++i) {
    writer->Write(Line(i));
  }
  auto end = std::async(std::launch::async, [&writer] { writer.reset(); });
  const std::string text = stalled.ReadUntil(Line(99));
  EXPECT_EQ(WrittenAndMissing(text), 100) << text;
}

TEST(LogWriterQueueTest, WaitsWhenItIsFullIfItIsToldTo) {
  StalledStderr stalled;
  LogWriter writer(Stuck(WhenFull::kBlock));
  auto done = std::async(std::launch::async, [&writer] {
    for (int i = 0; i < 100; ++i) {
      writer.Write(Line(i));
    }
  });
  std::string wanted;
  for (int i = 0; i < 100; ++i) {
    wanted += Line(i);
  }
  EXPECT_EQ(stalled.ReadUntil(Line(99)), wanted);
  done.get();
  EXPECT_EQ(writer.Dropped(), 0U);
}

TEST(LogWriterQueueTest, DoesNotWaitForEverEvenIfItIsToldTo) {
  StalledStderr stalled;
  LogWriterOptions options = Stuck(WhenFull::kBlock);
  options.patience = std::chrono::milliseconds(20);
  LogWriter writer(options);
  auto done = std::async(std::launch::async, [&writer] {
    for (int i = 0; i < 99; ++i) {
      writer.Write(Line(i));
    }
    writer.Write(Line(99), Urgency::kWait);
  });
  EXPECT_EQ(done.wait_for(test::kPatience), std::future_status::ready);
  const std::string text = stalled.ReadUntil(Line(99));
  EXPECT_EQ(WrittenAndMissing(text), 100) << text;
}

TEST(LogWriterQueueTest, WhoWaitsDoesNotReturnForSomebodyElsesLine) {
  const LogFolder folder;
  LogWriterOptions options = ToFile(folder, WriteBy::kThread);
  options.patience = test::kPatience;
  LogWriter writer(options);
  std::vector<std::future<int>> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.push_back(std::async(std::launch::async, [&, thread] {
      int missed = 0;
      for (int i = 0; i < 100; ++i) {
        const std::string line = "of " + std::to_string(thread) + ": " + Line(i);
        writer.Write(line, Urgency::kWait);
        missed += folder.Read("a.log").find(line) == std::string::npos ? 1 : 0;
      }
      return missed;
    }));
  }
  for (std::future<int>& missed : threads) {
    EXPECT_EQ(missed.get(), 0);
  }
}

TEST(LogWriterQueueTest, AnEndIsAnEndEvenIfNobodyReads) {
  const StalledStderr stalled;
  for (const WhenFull when_full : {WhenFull::kDrop, WhenFull::kBlock}) {
    auto end = std::async(std::launch::async, [when_full] {
      LogWriterOptions options = Stuck(when_full);
      options.patience = std::chrono::milliseconds(20);
      LogWriter writer(options);
      for (int i = 0; i < 3; ++i) {
        writer.Write(Line(i));
      }
    });
    ASSERT_EQ(end.wait_for(test::kPatience), std::future_status::ready);
  }
}

TEST(LogWriterQueueTest, ABatchForAPipeKeepsItsLinesWhole) {
  StalledStderr stalled;
  LogWriterOptions options = Stuck(WhenFull::kBlock);
  std::string wanted;
  for (int i = 0; i < 1000; ++i) {
    wanted += Line(i);
  }
  LogWriter writer(options);
  writer.Write(wanted);
  EXPECT_EQ(stalled.ReadUntil(Line(999)), wanted);
}

}  // namespace
}  // namespace TURTLE_SERVER
