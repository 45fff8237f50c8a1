// The loop's timers and its connections' deadlines, on a clock that only the test turns.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "core/looper.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Client;
using test::Delete;
using test::Echo;
using test::LoopThread;
using test::ManualClock;
using test::TcpPair;

// --- tasks --------------------------------------------------------------------------------------

TEST(LooperTimer, RunsATaskWhenItsTimeHasComeAndOnce) {
  ManualClock clock;
  int ran = 0;
  std::thread::id thread;
  LoopThread loop(clock.Source());
  loop.Ask([&] {
    loop.Get().RunAfter(seconds(10), [&] {
      ++ran;
      thread = std::this_thread::get_id();
    });
  });
  clock.Advance(milliseconds(9999), loop);
  loop.Ask([&] { EXPECT_EQ(ran, 0); });
  clock.Advance(milliseconds(1), loop);
  loop.Ask([&] { EXPECT_EQ(ran, 1); });
  clock.Advance(seconds(100), loop);
  loop.Ask([&] {
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(thread, std::this_thread::get_id());
  });
}

TEST(LooperTimer, ATimerThatKeptANameDoesNotDeleteTheStrangerWithTheNumber) {
  const ConnectionCallbacks callbacks{{}, Echo};
  TcpPair pair = test::MakeTcpPair();
  ManualClock clock;
  LoopThread loop(clock.Source());
  ConnectionId old{};
  const Client first = loop.Connect(callbacks, &old);
  loop.Ask([&] {
    loop.Get().RunAfter(seconds(10), [&] { loop.Get().DeleteConnection(old, Closing::kReset); });
    loop.Get().DeleteConnection(old);
  });
  ASSERT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  pair.server = Socket(UniqueFd(::dup2(pair.server.GetFd(), old.fd)));
  loop.Ask([&] {
    EXPECT_EQ(loop.Get().AddConnection(pair.server.Release(), callbacks)->GetFd(), old.fd);
  });
  clock.Advance(seconds(10), loop);
  ASSERT_TRUE(pair.client.Send("hello"));
  EXPECT_EQ(pair.client.Receive(5), "hello") << "a stranger was deleted";
}

// A delay that means "never" would overflow: its time would be long past, and the loop would sleep.
TEST(LooperTimer, NeverIsNeitherAtOnceNorInTheWayOfOthers) {
  ManualClock clock;
  int never = 0;
  int soon = 0;
  LoopThread loop(clock.Source());
  loop.Ask([&] {
    loop.Get().RunAfter(Clock::duration::max(), [&] { ++never; });
    loop.Get().RunAfter(seconds(1), [&] { ++soon; });
  });
  clock.Advance(seconds(1), loop);
  loop.Ask([&] { EXPECT_EQ(soon, 1); });
  clock.Advance(std::chrono::hours(24 * 365), loop);
  loop.Ask([&] { EXPECT_EQ(never, 0); });
}

TEST(LooperTimer, TasksOfOneRoundRunInTheOrderOfTheirTimes) {
  ManualClock clock;
  std::string order;
  LoopThread loop(clock.Source());
  loop.Ask([&] {
    loop.Get().RunAfter(seconds(2), [&] { order += 'c'; });
    loop.Get().RunAfter(seconds(1), [&] { order += 'a'; });
    loop.Get().RunAfter(seconds(2), [&] { order += 'd'; });
    loop.Get().RunAfter(seconds(1), [&] { order += 'b'; });
  });
  clock.Advance(seconds(5), loop);
  loop.Ask([&] { EXPECT_EQ(order, "abcd"); });
}

TEST(LooperTimer, ATaskMayCancelAnotherAndAddOne) {
  ManualClock clock;
  std::string order;
  TimerId second;
  LoopThread loop(clock.Source());
  loop.Ask([&] {
    loop.Get().RunAfter(seconds(1), [&] {
      order += 'a';
      EXPECT_TRUE(loop.Get().Cancel(second));
      EXPECT_FALSE(loop.Get().Cancel(second));
      loop.Get().RunAfter(seconds(1), [&] { order += 'c'; });
    });
    second = loop.Get().RunAfter(seconds(1), [&] { order += 'b'; });
  });
  clock.Advance(seconds(1), loop);
  loop.Ask([&] { EXPECT_EQ(order, "a"); });
  clock.Advance(seconds(1), loop);
  loop.Ask([&] { EXPECT_EQ(order, "ac"); });
}

TEST(LooperTimer, ATimerWithoutDelayDoesNotStarveTheClients) {
  std::function<void()> again;  // before the loop, which runs it
  bool over = false;
  const ConnectionCallbacks callbacks{{}, Echo};
  LoopThread loop;
  again = [&] {
    if (!over) {
      loop.Get().RunAfter(seconds(0), again);
    }
  };
  loop.Ask([&] { again(); });
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.Receive(5), "hello");
  loop.Ask([&] { over = true; });
}

TEST(LooperTimer, ATaskThatThrowsIsLoggedAndTheOthersRun) {
  const test::CapturedStderr captured;
  ManualClock clock;
  int ran = 0;
  LoopThread loop(clock.Source());
  loop.Ask([&] {
    loop.Get().RunAfter(seconds(1), [] { throw std::runtime_error("too late"); });
    loop.Get().RunAfter(seconds(1), [&] { ++ran; });
  });
  clock.Advance(seconds(1), loop);
  loop.Ask([&] { EXPECT_EQ(ran, 1); });
  EXPECT_NE(captured.Text().find("too late"), std::string::npos) << captured.Text();
}

// Uses the real clock, and nothing else that would wake the loop.
TEST(LooperTimer, TheLoopWakesUpForATask) {
  std::promise<void> ran;
  LoopThread loop;
  loop.Ask([&] { loop.Get().RunAfter(milliseconds(30), [&] { ran.set_value(); }); });
  EXPECT_EQ(ran.get_future().wait_for(test::kPatience), std::future_status::ready);
}

TEST(LooperTimer, NowStandsStillDuringARound) {
  ManualClock clock;
  LoopThread loop(clock.Source());
  clock.Advance(seconds(1));
  loop.Ask([&] {
    const TimePoint now = loop.Get().Now();
    EXPECT_EQ(now, clock.Now());
    clock.Advance(seconds(1));
    EXPECT_EQ(loop.Get().Now(), now);
  });
}

// --- deadlines ----------------------------------------------------------------------------------

// A loop, two connections that count their timeouts, and functions that move their deadlines.
class DeadlineTest : public ::testing::Test {
 protected:
  DeadlineTest() {
    Client one = loop_.Connect(callbacks_, &ids_[0]);
    Client two = loop_.Connect(callbacks_, &ids_[1]);
    clients_.push_back(std::move(one));
    clients_.push_back(std::move(two));
  }

  // Sets the deadline of connection `index` to `ms` after the beginning of the test.
  void SetDeadline(std::size_t index, int ms) {
    loop_.Ask([&] { loop_.Get().SetDeadline(loop_.Get().Find(ids_[index]), start_ + Ms(ms)); });
  }

  // Advances to `ms` after the beginning. @return the connections that have timed out since the
  // last call.
  auto TimeoutsUntil(int ms) -> std::vector<std::size_t> {
    clock_.Advance(start_ + Ms(ms) - clock_.Now(), loop_);
    return loop_.Ask([&] { return std::exchange(timeouts_, {}); });
  }

  static auto Ms(int count) -> milliseconds { return milliseconds(count); }

  using Timeouts = std::vector<std::size_t>;

  ManualClock clock_;
  const TimePoint start_ = clock_.Now();
  ConnectionId ids_[2] = {};
  Timeouts timeouts_;
  ConnectionCallback on_timeout_ = [](Connection*) {};
  const ConnectionCallbacks callbacks_{{}, Echo, [this](Connection* connection) {
                                         timeouts_.push_back(connection->Id() == ids_[0] ? 0 : 1);
                                         on_timeout_(connection);
                                       }};
  LoopThread loop_{clock_.Source()};
  std::vector<Client> clients_;
};

TEST_F(DeadlineTest, PassesOnce) {
  SetDeadline(0, 1000);
  EXPECT_EQ(TimeoutsUntil(999), Timeouts{});
  EXPECT_EQ(TimeoutsUntil(1000), Timeouts{0});
  EXPECT_EQ(TimeoutsUntil(9000), Timeouts{}) << "the connection stays, without a deadline";
  ASSERT_TRUE(clients_[0].Send("hello"));
  EXPECT_EQ(clients_[0].Receive(5), "hello");
}

TEST_F(DeadlineTest, MovedLaterItPassesThenAndOnce) {
  SetDeadline(0, 1000);
  for (int ms = 1500; ms <= 3000; ms += 500) {
    SetDeadline(0, ms);
  }
  EXPECT_EQ(TimeoutsUntil(2999), Timeouts{});
  SetDeadline(0, 5000);
  EXPECT_EQ(TimeoutsUntil(4999), Timeouts{});
  EXPECT_EQ(TimeoutsUntil(5000), Timeouts{0});
  EXPECT_EQ(TimeoutsUntil(9000), Timeouts{});
}

TEST_F(DeadlineTest, MovedEarlierItPassesThenAndOnce) {
  SetDeadline(0, 5000);
  SetDeadline(0, 1000);
  EXPECT_EQ(TimeoutsUntil(999), Timeouts{});
  EXPECT_EQ(TimeoutsUntil(1000), Timeouts{0});
  EXPECT_EQ(TimeoutsUntil(9000), Timeouts{});
}

TEST_F(DeadlineTest, MovedToAndFroItPassesWhereItWasLeft) {
  SetDeadline(0, 5000);
  SetDeadline(0, 1000);
  SetDeadline(0, 7000);
  SetDeadline(0, 6000);
  EXPECT_EQ(TimeoutsUntil(5999), Timeouts{});
  EXPECT_EQ(TimeoutsUntil(6000), Timeouts{0});
  EXPECT_EQ(TimeoutsUntil(9000), Timeouts{});
}

TEST_F(DeadlineTest, CanBeTakenBack) {
  SetDeadline(0, 1000);
  loop_.Ask([&] { loop_.Get().SetDeadline(loop_.Get().Find(ids_[0]), TimePoint::max()); });
  EXPECT_EQ(TimeoutsUntil(9000), Timeouts{});
}

TEST_F(DeadlineTest, InThePastItPassesAtOnce) {
  SetDeadline(0, -1000);
  EXPECT_EQ(TimeoutsUntil(0), Timeouts{0});
}

TEST_F(DeadlineTest, EqualOnesPassBoth) {
  SetDeadline(0, 1000);
  SetDeadline(1, 1000);
  Timeouts timeouts = TimeoutsUntil(1000);
  EXPECT_EQ(timeouts.size(), 2U);
  EXPECT_NE(timeouts.front(), timeouts.back());
}

TEST_F(DeadlineTest, WhoSetsItAgainIsCalledAgain) {
  int calls = 0;
  on_timeout_ = [&](Connection* connection) {
    ++calls;
    connection->GetLooper()->SetDeadline(connection, connection->GetLooper()->Now() + seconds(1));
  };
  SetDeadline(0, 1000);
  EXPECT_EQ(TimeoutsUntil(1000), Timeouts{0});
  EXPECT_EQ(TimeoutsUntil(1999), Timeouts{});
  EXPECT_EQ(TimeoutsUntil(2000), Timeouts{0});
  EXPECT_EQ(TimeoutsUntil(9000), Timeouts{0}) << "once, however late the loop comes";
  loop_.Ask([&] { EXPECT_EQ(calls, 3); });
}

TEST_F(DeadlineTest, ItsCallbackMayDeleteBoth) {
  on_timeout_ = [&](Connection* connection) {
    for (const ConnectionId id : ids_) {
      connection->GetLooper()->DeleteConnection(id.fd);
    }
  };
  SetDeadline(0, 1000);
  SetDeadline(1, 1000);
  EXPECT_EQ(TimeoutsUntil(1000).size(), 1U) << "a deleted connection is called no more";
  for (Client& client : clients_) {
    EXPECT_EQ(client.ReceiveAll(), "");
    EXPECT_TRUE(client.Ended());
  }
}

TEST_F(DeadlineTest, ACallbackThatThrowsLosesItsConnection) {
  const test::CapturedStderr captured;
  on_timeout_ = [](Connection*) { throw std::runtime_error("time is up"); };
  SetDeadline(0, 1000);
  EXPECT_EQ(TimeoutsUntil(1000), Timeouts{0});
  clients_[0].ReceiveAll();
  EXPECT_TRUE(clients_[0].Ended());
  EXPECT_NE(captured.Text().find("time is up"), std::string::npos) << captured.Text();
}

TEST_F(DeadlineTest, WithoutACallbackTheConnectionIsDeleted) {
  const ConnectionCallbacks callbacks{{}, Echo};
  ConnectionId id{};
  Client client = loop_.Connect(callbacks, &id);
  loop_.Ask([&] { loop_.Get().SetDeadline(loop_.Get().Find(id), start_ + seconds(1)); });
  clock_.Advance(seconds(1), loop_);
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.Ended());
}

// Uses the real clock, and nothing else that would wake the loop.
TEST(LooperDeadline, TheLoopWakesUpForIt) {
  const ConnectionCallbacks callbacks{[](Connection* connection) {
                                        Looper* looper = connection->GetLooper();
                                        looper->SetDeadline(connection,
                                                            looper->Now() + milliseconds(30));
                                      },
                                      Echo};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  client.ReceiveAll();
  EXPECT_TRUE(client.Ended());
}

// The kernel gives the lowest free number to the next client: the one that has just left.
class SameNumberTest : public DeadlineTest {
 protected:
  // Deletes connection 0 and replaces it by another one, which is then connection 0.
  void Replace() {
    TcpPair pair = test::MakeTcpPair();
    const ConnectionId old = ids_[0];
    loop_.Ask([&] { loop_.Get().DeleteConnection(old.fd); });
    ASSERT_TRUE(loop_.Await([&] { return loop_.Get().ConnectionCount() == 1; }));
    pair.server = Socket(UniqueFd(::dup2(pair.server.GetFd(), old.fd)));
    loop_.Ask(
        [&] { ids_[0] = loop_.Get().AddConnection(pair.server.Release(), callbacks_)->Id(); });
    ASSERT_EQ(ids_[0].fd, old.fd);
    clients_[0] = std::move(pair.client);
  }
};

TEST_F(SameNumberTest, ThePredecessorsDeadlineIsNotTheSuccessors) {
  SetDeadline(0, 1000);
  Replace();
  EXPECT_EQ(TimeoutsUntil(9000), Timeouts{});
  ASSERT_TRUE(clients_[0].Send("hello"));
  EXPECT_EQ(clients_[0].Receive(5), "hello");
}

TEST_F(SameNumberTest, TheSuccessorsOwnDeadlineCountsLaterOrEarlier) {
  SetDeadline(0, 1000);
  Replace();
  SetDeadline(0, 2000);
  EXPECT_EQ(TimeoutsUntil(1999), Timeouts{});
  EXPECT_EQ(TimeoutsUntil(2000), Timeouts{0});

  SetDeadline(0, 5000);
  Replace();
  SetDeadline(0, 3000);
  EXPECT_EQ(TimeoutsUntil(2999), Timeouts{});
  EXPECT_EQ(TimeoutsUntil(3000), Timeouts{0});
  EXPECT_EQ(TimeoutsUntil(9000), Timeouts{});
}

}  // namespace
}  // namespace TURTLE_SERVER
