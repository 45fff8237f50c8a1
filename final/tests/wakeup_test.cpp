#include "core/wakeup.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "core/poller.h"
#include "support/client.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

auto IsSignalled(const Wakeup& wakeup) -> bool {
  pollfd waiting{wakeup.Fd(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

TEST(Wakeup, IsSilentAtFirst) { EXPECT_FALSE(IsSignalled(Wakeup())); }

TEST(Wakeup, StaysSignalledUntilItIsCleared) {
  Wakeup wakeup;
  wakeup.Signal();
  EXPECT_TRUE(IsSignalled(wakeup));
  EXPECT_TRUE(IsSignalled(wakeup));
  wakeup.Clear();
  EXPECT_FALSE(IsSignalled(wakeup));
  wakeup.Signal();
  EXPECT_TRUE(IsSignalled(wakeup));
}

// More signals than a pipe holds: a signaller must never wait for the loop.
TEST(Wakeup, AHundredThousandSignalsAreOneWakeup) {
  Wakeup wakeup;
  for (int i = 0; i < 100000; ++i) {
    wakeup.Signal();
  }
  EXPECT_TRUE(IsSignalled(wakeup));
  wakeup.Clear();
  EXPECT_FALSE(IsSignalled(wakeup));
}

TEST(Wakeup, ClearDoesNotWait) {
  Wakeup wakeup;
  wakeup.Clear();
  EXPECT_FALSE(IsSignalled(wakeup));
}

TEST(Wakeup, WakesAnotherThreadsPoller) {
  Wakeup wakeup;
  const auto poller = Poller::Create();
  poller->Add(wakeup.Fd(), Interest::kRead, 7);
  std::thread other([&wakeup] { wakeup.Signal(); });
  const auto events = poller->Wait(test::kPatience);
  other.join();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].token, 7U);
  EXPECT_TRUE(events[0].readable);
}

Wakeup* to_signal = nullptr;

TEST(Wakeup, CanBeSignalledByASignalHandlerWhichLeavesErrnoAlone) {
  Wakeup wakeup;
  to_signal = &wakeup;
  const auto before = std::signal(SIGUSR1, [](int) { to_signal->Signal(); });
  errno = EDOM;
  std::raise(SIGUSR1);
  EXPECT_EQ(errno, EDOM);
  std::signal(SIGUSR1, before);
  EXPECT_TRUE(IsSignalled(wakeup));
}

}  // namespace
}  // namespace TURTLE_SERVER
