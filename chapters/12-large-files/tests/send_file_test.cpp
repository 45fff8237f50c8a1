#include "core/send_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "support/narrow_pair.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::MakeFile;
using test::NarrowPair;
using test::Pattern;

using Sender = IoResult (*)(int, int, std::uint64_t, std::size_t);

class SendFileTest : public testing::TestWithParam<Sender> {};

TEST_P(SendFileTest, SendsAnyPartAndStopsWhenTheSocketIsFull) {
  const std::string content = Pattern(1'000'000);
  const UniqueFd file = MakeFile(content);
  NarrowPair pair;
  constexpr std::size_t kStart = 12'345;
  std::size_t sent = 0;
  std::string got;
  bool was_full = false;
  while (kStart + sent < content.size()) {
    const IoResult result =
        GetParam()(pair.sender.GetFd(), file.Get(), kStart + sent, content.size() - kStart - sent);
    if (result.status == IoStatus::kBytes) {
      sent += result.bytes;
      continue;
    }
    ASSERT_EQ(result.status, IoStatus::kWouldBlock) << result.error;
    was_full = true;
    got += pair.Relieve(100'000);
  }
  got += pair.ReadExactly(sent - got.size());
  EXPECT_TRUE(was_full);
  EXPECT_TRUE(got == content.substr(kStart));
}

TEST_P(SendFileTest, SendsNoMoreThanAskedFor) {
  const UniqueFd file = MakeFile("0123456789");
  NarrowPair pair;
  const IoResult result = GetParam()(pair.sender.GetFd(), file.Get(), 2, 5);
  ASSERT_EQ(result.status, IoStatus::kBytes);
  EXPECT_EQ(result.bytes, 5U);
  EXPECT_EQ(pair.ReadExactly(5), "23456");
}

TEST_P(SendFileTest, TheEndOfTheFileIsNotAnError) {
  const UniqueFd file = MakeFile("0123456789");
  NarrowPair pair;
  EXPECT_EQ(GetParam()(pair.sender.GetFd(), file.Get(), 10, 1).status, IoStatus::kEnd);
  EXPECT_EQ(GetParam()(pair.sender.GetFd(), file.Get(), 99, 1).status, IoStatus::kEnd);
}

TEST_P(SendFileTest, ABrokenConnectionIsAnErrorAndNotASignal) {
  // SIGPIPE has its default action here: it would end this program.
  ASSERT_NE(signal(SIGPIPE, SIG_DFL), SIG_ERR);
  const UniqueFd file = MakeFile("0123456789");
  NarrowPair pair;
  ASSERT_EQ(pair.sender.ShutdownWrite(), 0);
  const IoResult result = GetParam()(pair.sender.GetFd(), file.Get(), 0, 10);
  EXPECT_EQ(result.status, IoStatus::kError);
  EXPECT_EQ(result.error, EPIPE);
  sigset_t set;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &set), 0);
  EXPECT_EQ(sigismember(&set, SIGPIPE), 0);
  ASSERT_EQ(sigpending(&set), 0);
  EXPECT_EQ(sigismember(&set, SIGPIPE), 0);
}

// A client that has left resets the connection at the first bytes. The same call may then continue
// to send: it has sent a part, and raises the signal all the same.
TEST_P(SendFileTest, AConnectionThatBreaksInTheMiddleIsNoSignalEither) {
  ASSERT_NE(signal(SIGPIPE, SIG_DFL), SIG_ERR);
  constexpr std::size_t kMuch = 4'000'000;
  const UniqueFd file = MakeFile(Pattern(kMuch));
  auto pair = std::make_unique<test::TcpPair>(test::MakeTcpPair());
  const Socket server = std::move(pair->server);
  pair.reset();
  ASSERT_TRUE(test::AwaitReady(server.GetFd(), POLLIN));  // its FIN
  IoResult result{IoStatus::kBytes, 0, 0};
  while (result.status == IoStatus::kBytes || result.status == IoStatus::kWouldBlock) {
    result = GetParam()(server.GetFd(), file.Get(), 0, kMuch);
  }
  EXPECT_EQ(result.status, IoStatus::kError);
  EXPECT_EQ(result.error, EPIPE);
}

TEST_P(SendFileTest, AnErrorOfTheFileIsReported) {
  NarrowPair pair;
  const UniqueFd directory(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const IoResult result = GetParam()(pair.sender.GetFd(), directory.Get(), 0, 10);
  EXPECT_EQ(result.status, IoStatus::kError);
  EXPECT_NE(result.error, 0);
}

INSTANTIATE_TEST_SUITE_P(Kernel, SendFileTest, testing::Values(&SendFile));
INSTANTIATE_TEST_SUITE_P(Copy, SendFileTest, testing::Values(&CopyFile));

#ifdef __linux__
TEST(SendFileLinuxTest, ASignalThatTheProgramHoldsBackStaysPending) {
  sigset_t pipe;
  sigset_t before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &pipe, &before), 0);
  ASSERT_EQ(raise(SIGPIPE), 0);
  const UniqueFd file = MakeFile("0123456789");
  NarrowPair pair;
  ASSERT_EQ(pair.sender.ShutdownWrite(), 0);
  EXPECT_EQ(SendFile(pair.sender.GetFd(), file.Get(), 0, 10).error, EPIPE);
  sigset_t pending;
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 1);
  int got = 0;
  ASSERT_EQ(sigwait(&pipe, &got), 0);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST(SendFileLinuxTest, FilesThatHaveNoPagesToLendAreSentToo) {
  const UniqueFd file(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  NarrowPair pair;
  const IoResult result = SendFile(pair.sender.GetFd(), file.Get(), 0, 5);
  ASSERT_EQ(result.status, IoStatus::kBytes) << result.error;
  EXPECT_EQ(pair.ReadExactly(result.bytes), std::string("Name:").substr(0, result.bytes));
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
