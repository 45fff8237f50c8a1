#include "log/last_lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "log/log_line.h"
#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::string_view kStart = "1970-01-01T00:00:00.000Z DEBUG ";

auto Line(std::string_view text) -> LogLine { return {LogLevel::kDebug, text, {}}; }

// A file for this test alone.
class Output {
 public:
  Output() : file_(std::tmpfile(), &std::fclose) {}

  [[nodiscard]] auto Fd() const -> int { return ::fileno(file_.get()); }

  // The lines since the last call, without their times and levels; one that is not whole is "?".
  auto Take() -> std::vector<std::string> {
    std::string text;
    std::array<char, 4096> bytes;
    ssize_t count = 0;
    while ((count = ::pread(Fd(), bytes.data(), bytes.size(), taken_)) > 0) {
      text.append(bytes.data(), static_cast<std::size_t>(count));
      taken_ += count;
    }
    std::vector<std::string> lines;
    if (!text.empty() && text.back() != '\n') {
      lines.emplace_back("?");
    }
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      const bool begins = line.substr(0, kStart.size()) == kStart;
      lines.push_back(begins ? line.substr(kStart.size()) : line.substr(0, 2) == "--" ? line : "?");
    }
    return lines;
  }

 private:
  std::unique_ptr<std::FILE, decltype(&std::fclose)> file_;
  off_t taken_ = 0;
};

using Lines = std::vector<std::string>;

auto Written(const LastLines& lines) -> Lines {
  Output output;
  lines.Write(output.Fd());
  return output.Take();
}

// "3 1234 xxxx": the second number is the count of the letters after it.
auto Text(int thread, std::uint64_t number) -> std::string {
  return std::to_string(thread) + " " + std::to_string(number) + " " +
         std::string(number * 37 % 900, static_cast<char>('a' + number % 26));
}

TEST(LastLinesTest, TheOldestGoes) {
  LastLines lines(3);
  EXPECT_EQ(Written(lines), Lines{});
  lines.Add(Line("one"));
  EXPECT_EQ(Written(lines), Lines{"one"});
  lines.Add(Line("two"));
  lines.Add(Line("three"));
  EXPECT_EQ(Written(lines), (Lines{"one", "two", "three"}));
  lines.Add(Line("four"));
  EXPECT_EQ(Written(lines), (Lines{"two", "three", "four"}));
  EXPECT_EQ(Written(lines), (Lines{"two", "three", "four"})) << "to be read again";
  for (int i = 5; i <= 1000; ++i) {
    lines.Add(Line(std::to_string(i)));
  }
  EXPECT_EQ(Written(lines), (Lines{"998", "999", "1000"}));
}

TEST(LastLinesTest, OneIsEnough) {
  LastLines lines(1);
  lines.Add(Line("one"));
  lines.Add(Line("two"));
  EXPECT_EQ(Written(lines), Lines{"two"});
  try {
    const LastLines none(0);
    FAIL() << "for whom?";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "0 lines: at least 1");
  }
}

TEST(LastLinesTest, LinesOfEveryLength) {
  LastLines lines(2);
  for (std::size_t size = 0; size <= LogLine::kMaxBytes; ++size) {
    const LogLine line = Line(std::string(size, static_cast<char>('a' + size % 26)));
    lines.Add(line);
    const std::string wanted(line.View().substr(kStart.size()));
    ASSERT_EQ(Written(lines).back() + "\n", wanted);
  }
}

TEST(LastLinesTest, NothingIsAllocated) {
  LastLines lines(4);
  Output output;
  const LogLine line = Line("a line");
  test::allocations = 0;
  test::counts_allocations = true;
  for (int i = 0; i < 100; ++i) {
    lines.Add(line);
    lines.Write(output.Fd());
  }
  test::counts_allocations = false;
  EXPECT_EQ(test::allocations, 0U);
  EXPECT_EQ(output.Take().size(), 1U + 2 + 3 + 97 * 4);
}

TEST(LastLinesTest, WhatCannotBeWrittenIsNot) {
  LastLines lines(100);
  for (int i = 0; i < 100; ++i) {
    lines.Add(Line(std::string(900, 'x')));
  }
  errno = ENOTTY;
  lines.Write(-1);
  EXPECT_EQ(errno, ENOTTY);
  // A pipe that is full after 64 KiB, and not waited for.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);
  ::fcntl(reader.Get(), F_SETFL, O_NONBLOCK);
  ::fcntl(writer.Get(), F_SETFL, O_NONBLOCK);
  lines.Write(writer.Get());
  EXPECT_EQ(errno, ENOTTY);
  std::size_t size = 0;
  std::array<char, 4096> bytes;
  for (ssize_t count; (count = ::read(reader.Get(), bytes.data(), bytes.size())) > 0;) {
    size += static_cast<std::size_t>(count);
  }
  EXPECT_GT(size, 30'000U);
  EXPECT_EQ(Written(lines).size(), 100U);
}

// Each line whole, and those of one thread in the order in which it has added them.
void ExpectWholeAndInOrder(const Lines& lines) {
  std::map<int, std::uint64_t> last;
  for (const std::string& line : lines) {
    int thread = 0;
    unsigned long long number = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%d %llu ", &thread, &number), 2) << line;
    ASSERT_EQ(line, Text(thread, number));
    ASSERT_GT(number, last[thread]);
    last[thread] = number;
  }
}

TEST(LastLinesTest, SeveralThreadsAtOnce) {
  constexpr std::size_t kLines = 4;
  LastLines lines(kLines);
  std::atomic<bool> done{false};
  std::atomic<int> busy{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&lines, &done, &busy, i] {
      for (std::uint64_t number = 1; !done; ++number) {
        lines.Add(Line(Text(i, number)));
        busy += number == 100 ? 1 : 0;
      }
    });
  }
  while (busy < 4) {
    std::this_thread::yield();
  }
  Output output;
  std::size_t seen = 0;
  for (int i = 0; i < 3000 && !HasFatalFailure(); ++i) {
    lines.Write(output.Fd());
    const Lines written = output.Take();
    seen += written.size();
    EXPECT_LE(written.size(), kLines);
    ExpectWholeAndInOrder(written);
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(seen, 0U);
  for (std::uint64_t number = 1; number <= kLines; ++number) {
    lines.Add(Line(Text(9, number)));
  }
  const Lines written = Written(lines);
  EXPECT_EQ(written.size(), kLines) << "a place has got lost";
  ExpectWholeAndInOrder(written);
}

// Lines of one letter, one after the other without a pause, into few places.
TEST(LastLinesTest, NoLineIsOfTwoPieces) {
  for (const std::size_t places : {std::size_t{1}, std::size_t{16}}) {
    LastLines lines(places);
    std::atomic<bool> done{false};
    std::atomic<int> busy{0};
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&lines, &done, &busy, i] {
        const LogLine small = Line(std::string(300, static_cast<char>('a' + i)));
        const LogLine large = Line(std::string(900, static_cast<char>('A' + i)));
        for (int times = 1; !done; ++times) {
          lines.Add(small);
          lines.Add(large);
          busy += times == 100 ? 1 : 0;
        }
      });
    }
    while (busy < 3) {
      std::this_thread::yield();
    }
    Output output;
    std::string torn;
    for (int i = 0; i < 5000 && torn.empty(); ++i) {
      lines.Write(output.Fd());
      for (const std::string& line : output.Take()) {
        const std::size_t size = line.empty() || line[0] < 'a' ? 900 : 300;
        torn = line == std::string(size, line.front()) ? torn : line;
      }
    }
    done = true;
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(torn, "");
  }
}

// The state of the handler below.
LastLines* shared_lines = nullptr;
const LogLine* handlers_line = nullptr;
int shared_output = -1;
volatile std::sig_atomic_t handled = 0;

void WriteLines(int /*signal*/) {
  const int error = errno;
  errno = ENOTTY;
  shared_lines->Add(*handlers_line);
  shared_lines->Write(shared_output);
  const bool kept = errno == ENOTTY;
  static_cast<void>(!::write(shared_output, kept ? "--\n" : "--E\n", kept ? 3 : 4));
  errno = error;
  handled = handled + 1;
}

// A signal comes in the middle of whatever is being done, here mostly Add(). A lock would never
// be given back. That is why it is another process, and one that has an end.
TEST(LastLinesTest, AHandlerInTheMiddleOfIt) {
  constexpr int kTimes = 60;
  Output output;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    LastLines lines(4);
    const LogLine line = Line("9 1 " + std::string(37, 'b'));  // as Text() has it
    std::array<std::unique_ptr<LogLine>, 64> ready;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      ready[i] = std::make_unique<LogLine>(Line(Text(0, 100 + i)));
    }
    shared_lines = &lines;
    handlers_line = &line;
    shared_output = output.Fd();
    std::signal(SIGVTALRM, WriteLines);
    const itimerval every{{0, 1000}, {0, 1000}};  // of its own time on the CPU
    ::setitimer(ITIMER_VIRTUAL, &every, nullptr);
    for (std::size_t i = 0; handled < kTimes; ++i) {
      lines.Add(*ready[i % ready.size()]);
      if (i % 1000 == 0) {
        static_cast<void>(Line("some calls of the C library"));
      }
    }
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "it waits for ever, or has died";
  const Lines written = output.Take();
  int times = 0;
  std::size_t whole = 0;
  for (const std::string& line : written) {
    int thread = 0;
    unsigned long long number = 0;
    if (line == "--") {
      ++times;
    } else {
      ASSERT_EQ(std::sscanf(line.c_str(), "%d %llu ", &thread, &number), 2) << line;
      ASSERT_EQ(line, Text(thread, number));
      ++whole;
    }
  }
  EXPECT_GE(times, kTimes);
  EXPECT_GE(whole, std::size_t{2} * kTimes) << "only what is being changed may be left out";
}

std::vector<LogLine> lines_of_a_letter;

void AddLines(int /*signal*/) {
  for (const LogLine& line : lines_of_a_letter) {
    shared_lines->Add(line);
  }
  handled = handled + 1;
}

// The other way round: while Write() is at a line, others come that are enough for all places.
TEST(LastLinesTest, AHandlerInTheMiddleOfWriting) {
  Output output;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    LastLines lines(4);
    for (int i = 0; i < 26; ++i) {
      lines_of_a_letter.push_back(Line(std::string(900, static_cast<char>('a' + i))));
    }
    shared_lines = &lines;
    AddLines(0);
    std::signal(SIGVTALRM, AddLines);
    const itimerval every{{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_VIRTUAL, &every, nullptr);
    const std::size_t size = lines_of_a_letter.front().View().size();
    std::vector<char> bytes(8 * size);
    bool whole = true;
    while (whole && handled < 100) {
      const auto count = static_cast<std::size_t>(
          ::pread(output.Fd(), bytes.data(), bytes.size(), ::lseek(output.Fd(), 0, SEEK_SET)));
      whole = count % size == 0;
      for (std::size_t at = 0; whole && at < count; at += size) {
        const std::string_view text(&bytes[at + kStart.size()], size - kStart.size() - 1);
        whole = text.find_first_not_of(text.front()) == std::string_view::npos;
      }
      whole = whole && ::ftruncate(output.Fd(), 0) == 0;
      lines.Write(output.Fd());
    }
    ::_exit(whole ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "it waits for ever, or has died";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "a line of two pieces";
}

}  // namespace
}  // namespace TURTLE_SERVER
