// Deadlines that their own callbacks set to now, or to the past, get one call in each round.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "core/looper.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Client;
using test::LoopThread;
using test::ManualClock;

constexpr int kCalls = 100;  // the limit: a loop that never ends a round would hang this test

void Ignore(Connection* connection) {
  if (connection->Recv().exit) {
    connection->GetLooper()->DeleteConnection(connection->GetFd());
  }
  connection->ClearReadBuffer();
}

// Counts the rounds of a loop: a timer that a timer adds waits for the next one. The loop's thread.
class Rounds {
 public:
  explicit Rounds(Looper& looper) : looper_(looper) {}

  void Count() {
    ++count_;
    if (counts_) {
      looper_.RunAfter(seconds(0), [this] { Count(); });
    }
  }
  void End() { counts_ = false; }
  [[nodiscard]] auto Now() const -> int { return count_; }

 private:
  Looper& looper_;
  int count_ = 0;
  bool counts_ = true;
};

// Returns the rounds in which a deadline passes that its callback always sets to `again`.
auto RoundsOfADeadline(const std::function<TimePoint(Looper&)>& again) -> std::vector<int> {
  ManualClock clock;
  std::vector<int> calls;  // the loop's thread
  Rounds* rounds = nullptr;
  ConnectionCallbacks callbacks;
  callbacks.on_handle = Ignore;
  callbacks.on_timeout = [&](Connection* connection) {
    Looper& looper = *connection->GetLooper();
    calls.push_back(rounds->Now());
    if (calls.size() < kCalls) {
      looper.SetDeadline(connection, again(looper));
    }
  };
  LoopThread loop(clock.Source());
  Rounds counter(loop.Get());
  rounds = &counter;
  ConnectionId id{};
  const Client client = loop.Connect(callbacks, &id);
  loop.Ask([&] {
    counter.Count();
    loop.Get().SetDeadline(loop.Get().Find(id), loop.Get().Now() + seconds(1));
  });
  clock.Advance(seconds(1));
  EXPECT_TRUE(loop.Await([&] { return calls.size() == kCalls; }));
  loop.Ask([&] { counter.End(); });
  loop.RunRounds(2);
  return calls;
}

void ExpectNoRoundTwice(const std::vector<int>& rounds) {
  ASSERT_EQ(rounds.size(), kCalls);
  EXPECT_EQ(std::adjacent_find(rounds.begin(), rounds.end()), rounds.end())
      << "one round has called it again and again";
}

TEST(LooperDeadlineOrder, ADeadlineSetToNowPassesOnceARound) {
  ExpectNoRoundTwice(RoundsOfADeadline([](Looper& looper) { return looper.Now(); }));
}

TEST(LooperDeadlineOrder, ADeadlineSetToThePastPassesOnceARound) {
  ExpectNoRoundTwice(RoundsOfADeadline([](Looper& looper) { return looper.Now() - seconds(5); }));
}

// The neighbours are served in the meantime.
TEST(LooperDeadlineOrder, WhoIsAlwaysLateStarvesNobody) {
  ManualClock clock;
  int late = 0;  // the loop's thread
  bool answered = false;
  ConnectionCallbacks callbacks;
  callbacks.on_handle = Ignore;
  callbacks.on_timeout = [&](Connection* connection) {
    if (++late < 1000 && !answered) {
      connection->GetLooper()->SetDeadline(connection, connection->GetLooper()->Now());
    }
  };
  const ConnectionCallbacks neighbours{
      {}, [&](Connection* connection) {
        if (connection->Recv().exit) {
          connection->GetLooper()->DeleteConnection(connection->GetFd());
          return;
        }
        answered = answered || !connection->Read().empty();
        connection->WriteToWriteBuffer(connection->Read());
        connection->ClearReadBuffer();
      }};
  LoopThread loop(clock.Source());
  ConnectionId id{};
  const Client tardy = loop.Connect(callbacks, &id);
  Client neighbour = loop.Connect(neighbours);
  loop.Ask([&] {
    EXPECT_TRUE(neighbour.Send("hello"));
    loop.Get().SetDeadline(loop.Get().Find(id), loop.Get().Now());
  });
  EXPECT_EQ(neighbour.Receive(5), "hello");
  loop.Ask([&] { EXPECT_LT(late, 1000) << "all the others waited for it"; });
}

}  // namespace
}  // namespace TURTLE_SERVER
