#include "core/poll_poller.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{0};

struct Pair {
  Pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
      throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    ours.Reset(ends[0]);
    theirs.Reset(ends[1]);
  }
  void Say() { ASSERT_EQ(::write(theirs.Get(), "x", 1), 1); }
  UniqueFd ours;
  UniqueFd theirs;
};

class PollPollerTest : public testing::Test {
 protected:
  // The tokens that are reported at this moment.
  auto Look() -> std::multiset<std::uint64_t> {
    std::multiset<std::uint64_t> tokens;
    for (const PollEvent& event : poller_.Wait(kLook)) {
      tokens.insert(event.token);
    }
    return tokens;
  }

  template <typename Action>
  static auto What(Action action) -> std::string {
    try {
      action();
      return "nothing thrown";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  PollPoller poller_;
  Pair a_;
  Pair b_;
};

TEST_F(PollPollerTest, TellsWhoIsReadyAndGoesOnTelling) {
  poller_.Add(a_.ours.Get(), Interest::kRead, 1);
  poller_.Add(b_.ours.Get(), Interest::kRead, 2);
  EXPECT_TRUE(Look().empty());
  b_.Say();
  EXPECT_EQ(Look(), (std::multiset<std::uint64_t>{2}));
  EXPECT_EQ(Look(), (std::multiset<std::uint64_t>{2})) << "the byte is still there";
  a_.Say();
  EXPECT_EQ(Look(), (std::multiset<std::uint64_t>{1, 2}));
}

TEST_F(PollPollerTest, ReadingAndWritingAreTwoThingsInOneEvent) {
  poller_.Add(a_.ours.Get(), Interest::kRead | Interest::kWrite, 1);
  ASSERT_EQ(poller_.Wait(kLook).size(), 1U);
  EXPECT_TRUE(poller_.Wait(kLook).front().writable);
  EXPECT_FALSE(poller_.Wait(kLook).front().readable);
  a_.Say();
  ASSERT_EQ(poller_.Wait(kLook).size(), 1U);
  EXPECT_TRUE(poller_.Wait(kLook).front().writable);
  EXPECT_TRUE(poller_.Wait(kLook).front().readable);
}

TEST_F(PollPollerTest, ChangesTheInterestAndTheToken) {
  poller_.Add(a_.ours.Get(), Interest::kRead, 1);
  a_.Say();
  poller_.Change(a_.ours.Get(), Interest::kNone, 1);
  EXPECT_TRUE(Look().empty());
  poller_.Change(a_.ours.Get(), Interest::kRead, 7);
  EXPECT_EQ(Look(), (std::multiset<std::uint64_t>{7}));
}

TEST_F(PollPollerTest, RemovesOneAndKeepsTheOthers) {
  poller_.Add(a_.ours.Get(), Interest::kRead, 1);
  poller_.Add(b_.ours.Get(), Interest::kRead, 2);
  a_.Say();
  b_.Say();
  poller_.Remove(a_.ours.Get());
  poller_.Remove(a_.ours.Get());  // which is not there any more
  EXPECT_EQ(Look(), (std::multiset<std::uint64_t>{2}));
  poller_.Add(a_.ours.Get(), Interest::kRead, 3);
  EXPECT_EQ(Look(), (std::multiset<std::uint64_t>{2, 3}));
}

TEST_F(PollPollerTest, TheEndWakesTheReader) {
  poller_.Add(a_.ours.Get(), Interest::kRead, 1);
  a_.theirs.Reset();
  ASSERT_EQ(poller_.Wait(kLook).size(), 1U);
  EXPECT_TRUE(poller_.Wait(kLook).front().readable);
  EXPECT_TRUE(poller_.Wait(kLook).front().peer_closed);
}

TEST_F(PollPollerTest, AFinishedPeerIsToldWithTheBytesBeforeTheEnd) {
  poller_.Add(a_.ours.Get(), Interest::kRead, 1);
  a_.Say();
  ASSERT_EQ(::shutdown(a_.theirs.Get(), SHUT_WR), 0);
  ASSERT_EQ(poller_.Wait(kLook).size(), 1U);
  EXPECT_TRUE(poller_.Wait(kLook).front().peer_closed);
}

TEST_F(PollPollerTest, AClosedDescriptorIsForgottenAndItsNumberIsFree) {
  const int number = a_.ours.Get();
  poller_.Add(number, Interest::kRead, 1);
  a_.ours.Reset();
  EXPECT_TRUE(Look().empty());
  const UniqueFd again(::fcntl(b_.ours.Get(), F_DUPFD, number));
  ASSERT_EQ(again.Get(), number);
  poller_.Add(number, Interest::kRead, 2);
  b_.Say();
  EXPECT_EQ(Look(), (std::multiset<std::uint64_t>{2}));
}

TEST_F(PollPollerTest, SaysWhatItRefuses) {
  const int fd = a_.ours.Get();
  const std::string number = std::to_string(fd);
  poller_.Add(fd, Interest::kRead, 1);
  EXPECT_EQ(What([&] { poller_.Add(fd, Interest::kRead, 1); }),
            "poll add " + number + ": File exists");
  EXPECT_EQ(What([&] { poller_.Add(999'999, Interest::kRead, 1); }),
            "poll add 999999: Bad file descriptor");
  EXPECT_EQ(What([&] { poller_.Change(b_.ours.Get(), Interest::kRead, 1); }),
            "poll change " + std::to_string(b_.ours.Get()) + ": No such file or directory");
  EXPECT_THROW(poller_.Add(b_.ours.Get(), Interest::kRead | Interest::kEdge, 1),
               std::invalid_argument);
  EXPECT_THROW(poller_.Change(fd, Interest::kRead | Interest::kEdge, 1), std::invalid_argument);
  EXPECT_TRUE(Look().empty()) << "and nothing has changed";
}

TEST_F(PollPollerTest, ATimeThatIsOverIsNoReasonToWaitForEver) {
  poller_.Add(a_.ours.Get(), Interest::kRead, 1);
  EXPECT_TRUE(poller_.Wait(milliseconds(-5)).empty());
  EXPECT_TRUE(poller_.Wait(milliseconds(1)).empty());
}

TEST_F(PollPollerTest, ASignalEndsTheWait) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before {};
  ::sigaction(SIGUSR1, &action, &before);
  poller_.Add(a_.ours.Get(), Interest::kRead, 1);
  std::atomic<bool> done{false};
  std::thread shooter([&, target = ::pthread_self()] {
    while (!done) {
      ::pthread_kill(target, SIGUSR1);
      std::this_thread::yield();
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(poller_.Wait(std::chrono::seconds(10)).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  done = true;
  shooter.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace TURTLE_SERVER
