#include "log/line_pipe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <sstream>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "log/log.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

// A pipe, and the bytes that were written to it.
class Pipe {
 public:
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    reader.Reset(ends[0]);
    writer.Reset(ends[1]);
    ::fcntl(reader.Get(), F_SETFL, O_NONBLOCK);
  }

  auto Read() -> std::string {
    std::string text;
    std::array<char, 4096> bytes;
    for (ssize_t count; (count = ::read(reader.Get(), bytes.data(), bytes.size())) > 0;) {
      text.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

  UniqueFd reader;
  UniqueFd writer;
};

auto Line() -> std::string { return std::string(999, 'x') + "\n"; }

auto Take(LinePipe& pipe, std::string_view lines) -> bool { return pipe.TryWrite(lines); }

TEST(LinePipeTest, WritesUntilThePipeIsFullAndThenSaysNo) {
  Pipe pipe;
  LinePipe lines(pipe.writer.Get());
  int written = 0;
  while (Take(lines, Line())) {
    ASSERT_LT(++written, 10'000);
  }
  EXPECT_GE(written, 4);
  EXPECT_FALSE(Take(lines, Line()));
  std::string wanted;
  for (int i = 0; i < written; ++i) {
    wanted += Line();
  }
  EXPECT_EQ(pipe.Read(), wanted) << "whole lines";
}

TEST(LinePipeTest, TellsWhatIsMissingAsSoonAsThereIsRoom) {
  Pipe pipe;
  LinePipe lines(pipe.writer.Get());
  while (Take(lines, Line())) {
  }
  lines.CountLost(2);
  lines.CountLost(1);
  pipe.Read();
  ASSERT_TRUE(Take(lines, "next\n"));
  const std::string text = pipe.Read();
  EXPECT_NE(text.find("WARN 3 lines of log are missing here\nnext\n"), std::string::npos) << text;
  ASSERT_TRUE(Take(lines, "after\n"));
  EXPECT_EQ(pipe.Read(), "after\n") << "told once";
}

TEST(LinePipeTest, WhatIsMissingCanBeToldByLog) {
  Pipe pipe;
  LinePipe lines(pipe.writer.Get(), Log);
  while (Take(lines, Line())) {
  }
  lines.CountLost(3);
  pipe.Read();
  const test::CapturedStderr said;
  ASSERT_TRUE(Take(lines, "{}\n"));
  EXPECT_EQ(pipe.Read(), "{}\n") << "other programs read this one";
  EXPECT_NE(said.Text().find(" WARN log: 3 lines are missing in descriptor "), std::string::npos)
      << said.Text();
  ASSERT_TRUE(Take(lines, "{}\n"));
  EXPECT_EQ(said.Text().find("missing", said.Text().find("missing") + 1), std::string::npos);
}

TEST(LinePipeTest, AReaderThatHasGoneIsNoReasonToWaitOrToDie) {
  Pipe pipe;
  LinePipe lines(pipe.writer.Get());
  pipe.reader.Reset();
  EXPECT_TRUE(Take(lines, Line()));  // a write(2) would end this program by SIGPIPE
  lines.AwaitRoom(milliseconds(60'000));
  LinePipe closed(pipe.writer.Get());
  pipe.writer.Reset();
  EXPECT_TRUE(Take(closed, Line()));
}

TEST(LinePipeTest, ASocketWhoseReaderHasGoneIsNoReasonToDieEither) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const UniqueFd writer(ends[0]);
  UniqueFd(ends[1]).Reset();  // poll(2) reports POLLOUT and POLLHUP, and no POLLERR
  LinePipe lines(writer.Get());
  EXPECT_TRUE(Take(lines, Line()));
}

TEST(LinePipeTest, TheDescriptorStaysAsItWas) {
  Pipe pipe;
  LinePipe lines(pipe.writer.Get());
  ASSERT_TRUE(Take(lines, Line()));
  EXPECT_EQ(::fcntl(pipe.writer.Get(), F_GETFL) & O_NONBLOCK, 0) << "others share it";
  pipe.writer.Reset();
  EXPECT_EQ(pipe.Read(), Line());
  char byte = 0;
  EXPECT_EQ(::read(pipe.reader.Get(), &byte, 1), 0) << "its reader sees the end";
}

#ifdef __linux__
TEST(LinePipeTest, WhatIsRefusedIsCountedAsLost) {
  const test::LogFolder folder;
  const UniqueFd out(::open("/dev/full", O_WRONLY));
  ASSERT_TRUE(out);
  LinePipe lines(out.Get());
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Take(lines, "one\ntwo\n")) << "waiting would not help";
  }
  const UniqueFd file(::open(folder.Path("out").c_str(), O_WRONLY | O_CREAT, 0600));
  ASSERT_EQ(::dup2(file.Get(), out.Get()), out.Get());
  EXPECT_TRUE(Take(lines, "there is room again\n"));
  const std::string text = folder.Read("out");
  EXPECT_NE(text.find("WARN 20 lines of log are missing here\nthere is room again\n"),
            std::string::npos)
      << text;
}
#endif

// Writes until nothing fits any more, without ever waiting; then reads all of it.
void WriteAndRead(int writer, int reader) {
  constexpr int kLines = 1000;
  LinePipe lines(writer);
  auto written = std::async(std::launch::async, [&lines] {
    for (int i = 0; i < kLines; ++i) {
      const std::string line = Line();
      std::string_view left = line;
      if (!lines.TryWrite(left)) {
        lines.CountLost(left.empty() ? 0 : 1);  // empty: it has begun
      }
    }
  });
  bool ready = written.wait_for(test::kPatience) == std::future_status::ready;
  EXPECT_TRUE(ready) << "it waits in write(2)";
  ::fcntl(reader, F_SETFL, O_NONBLOCK);
  std::string text;
  std::string_view left = "the end\n";
  const auto end = std::chrono::steady_clock::now() + test::kPatience;
  while (text.find("the end\n") == std::string::npos && std::chrono::steady_clock::now() < end) {
    std::array<char, 4096> bytes;
    const ssize_t count = ::read(reader, bytes.data(), bytes.size());
    text.append(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());  // a terminal adds them
    ready = ready || written.wait_for(milliseconds(0)) == std::future_status::ready;
    if (ready) {
      static_cast<void>(lines.TryWrite(left));
    }
  }
  std::istringstream all(text);
  int whole = 0;
  int missing = 0;
  for (std::string line; std::getline(all, line) && line != "the end";) {
    const std::size_t loss = line.find("Z WARN ");
    missing += loss == std::string::npos ? 0 : std::stoi(line.substr(loss + 7));
    whole += line + "\n" == Line() ? 1 : 0;
    EXPECT_TRUE(loss != std::string::npos || line + "\n" == Line()) << line;
  }
  EXPECT_GT(missing, 0);
  EXPECT_EQ(whole + missing, kLines);
}

TEST(LinePipeTest, ATerminalWithRoomForHalfALineIsNotWaitedForAndGetsTheRestLater) {
  const UniqueFd reader(::posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_TRUE(reader);
  ASSERT_EQ(::grantpt(reader.Get()), 0);
  ASSERT_EQ(::unlockpt(reader.Get()), 0);
  const UniqueFd terminal(::open(::ptsname(reader.Get()), O_RDWR | O_NOCTTY));
  ASSERT_TRUE(terminal);
  WriteAndRead(terminal.Get(), reader.Get());
}

TEST(LinePipeTest, ASocketIsNotWaitedForAndGetsTheRestLater) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const UniqueFd writer(ends[0]);
  const UniqueFd reader(ends[1]);
  WriteAndRead(writer.Get(), reader.Get());
}

}  // namespace
}  // namespace TURTLE_SERVER
