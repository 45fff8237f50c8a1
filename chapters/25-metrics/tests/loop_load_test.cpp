// How busy a loop is: the account that it keeps, and what other threads read of it.
#include "core/loop_load.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <thread>

#include "base/counter.h"
#include "core/looper.h"
#include "support/gate.h"
#include "support/handlers.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(CounterTest, OneThreadCountsAndAnotherReads) {
  constexpr std::uint64_t kCount = 100'000;
  Counter counter;
  std::thread writer([&counter] {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      counter.Add(3);
      counter.Subtract(2);
    }
  });
  for (std::uint64_t last = 0; last < kCount;) {
    const std::uint64_t now = counter + 2;  // it may have added, and not yet subtracted
    ASSERT_GE(now, last);
    last = counter.Get() >= kCount ? kCount : last;
  }
  writer.join();
  EXPECT_EQ(counter.Get(), kCount);
}

TEST(CounterTest, HoldsMoreThanThirtyTwoBits) {
  Counter counter(std::uint64_t{1} << 40);
  counter.Add(1);
  const Counter copy = counter;
  counter.Add(1);
  EXPECT_EQ(copy.Get(), (std::uint64_t{1} << 40) + 1);
}

TEST(CounterTest, WhatTwoLoopsCountIsNoLineOfCacheOfBoth) {
  EXPECT_EQ(alignof(LoopLoad), kCacheLine);
  EXPECT_EQ(sizeof(LoopLoad) % kCacheLine, 0U);
}

class LoopLoadTest : public testing::Test {
 protected:
  test::ManualClock clock_;
  LoopLoad load_{clock_.Source()};
};

TEST_F(LoopLoadTest, ALoopThatDoesNotRunYetWaits) {
  clock_.Advance(seconds(3));
  const LoopTimes times = load_.Read();
  EXPECT_EQ(times.waited, seconds(3));
  EXPECT_EQ(times.busy, seconds(0));
  EXPECT_EQ(times.round, seconds(0));
  EXPECT_EQ(times.rounds, 0U);
}

TEST_F(LoopLoadTest, AllTimeIsOneOrTheOther) {
  for (int i = 1; i <= 10; ++i) {
    clock_.Advance(seconds(2));
    load_.EndWait(clock_.Now());
    clock_.Advance(seconds(1));
    load_.BeginWait(clock_.Now());
    const LoopTimes times = load_.Read();
    EXPECT_EQ(times.waited, seconds(2 * i));
    EXPECT_EQ(times.busy, seconds(i));
    EXPECT_EQ(times.rounds, static_cast<std::uint64_t>(i));
  }
}

TEST_F(LoopLoadTest, ARoundCountsWhileItLasts) {
  clock_.Advance(seconds(1));
  load_.EndWait(clock_.Now());
  for (int i = 1; i <= 20; ++i) {
    clock_.Advance(seconds(1));
    EXPECT_EQ(load_.Read().busy, seconds(i));
    EXPECT_EQ(load_.Read().round, seconds(i));
    EXPECT_EQ(load_.Read().waited, seconds(1));
  }
  load_.BeginWait(clock_.Now());
  clock_.Advance(seconds(1));
  EXPECT_EQ(load_.Read().busy, seconds(20));
  EXPECT_EQ(load_.Read().round, seconds(0));
}

TEST_F(LoopLoadTest, WhatIsSaidTwiceCountsOnce) {
  load_.BeginWait(clock_.Now());
  clock_.Advance(seconds(1));
  load_.EndWait(clock_.Now());
  clock_.Advance(seconds(1));
  load_.EndWait(clock_.Now());
  clock_.Advance(seconds(1));
  load_.BeginWait(clock_.Now());
  clock_.Advance(seconds(1));
  load_.BeginWait(clock_.Now());
  EXPECT_EQ(load_.Read().waited, seconds(2));
  EXPECT_EQ(load_.Read().busy, seconds(2));
  EXPECT_EQ(load_.Read().rounds, 1U);
}

// Prometheus takes a counter that shrinks for a restart of the program.
TEST(LoopLoadThreadsTest, NoTimeEverShrinks) {
  LoopLoad load(Clock::now);
  std::atomic<bool> done{false};
  std::thread loop([&] {
    while (!done) {
      load.EndWait(Clock::now());
      load.BeginWait(Clock::now());
    }
  });
  LoopTimes last;
  for (int i = 0; i < 20'000; ++i) {
    const LoopTimes times = load.Read();
    EXPECT_GE(times.busy, last.busy);
    EXPECT_GE(times.waited, last.waited);
    EXPECT_GE(times.rounds, last.rounds);
    last = times;
  }
  done = true;
  loop.join();
}

TEST(LooperLoadTest, NothingIsKeptUnlessItIsAskedFor) {
  Looper looper;
  EXPECT_EQ(looper.Load(), nullptr);
  looper.MeasureLoad();
  const LoopLoad* const load = looper.Load();
  ASSERT_NE(load, nullptr);
  looper.MeasureLoad();
  EXPECT_EQ(looper.Load(), load);
}

class MeasuredLoop {
 public:
  MeasuredLoop() {
    looper_.MeasureLoad();
    thread_ = std::thread([this] { looper_.Loop(); });
  }
  MeasuredLoop(const MeasuredLoop&) = delete;
  auto operator=(const MeasuredLoop&) -> MeasuredLoop& = delete;
  ~MeasuredLoop() { End(); }

  auto Get() -> Looper& { return looper_; }
  auto Times() -> LoopTimes { return looper_.Load()->Read(); }
  void End() {
    looper_.Stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

 private:
  Looper looper_;
  std::thread thread_;
};

TEST(LooperLoadTest, ACallbackThatDoesNotReturnIsSeenFromAnotherThread) {
  test::Gate gate;
  MeasuredLoop loop;
  const test::OpensAtEnd opens(gate);
  ASSERT_TRUE(
      test::Await([&] { return loop.Times().rounds == 0 || loop.Times().round.count() == 0; }));
  ASSERT_TRUE(loop.Get().Post([&gate] { gate.Pass(); }));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  const LoopTimes first = loop.Times();
  EXPECT_GT(first.round.count(), 0);
  ASSERT_TRUE(test::Await([&] { return loop.Times().round > first.round; }));
  EXPECT_EQ(loop.Times().waited, first.waited);
  EXPECT_EQ(loop.Times().rounds, first.rounds);
  EXPECT_GT(loop.Times().busy, first.busy);
  gate.Open();
  ASSERT_TRUE(test::Await([&] { return loop.Times().round.count() == 0; }));
}

TEST(LooperLoadTest, ALoopThatHasEndedIsNotTakenForStuck) {
  MeasuredLoop loop;
  loop.End();
  EXPECT_EQ(loop.Times().round.count(), 0);
  const Clock::duration busy = loop.Times().busy;
  EXPECT_EQ(loop.Times().busy, busy);
}

// A loop with a deadline reads the clock to know how long it may sleep. With a measurement, it has
// read it already.
TEST(LooperLoadTest, ARoundAsksForTheTimeTwiceAtMost) {
  for (const bool measured : {false, true}) {
    std::atomic<int> asked{0};
    Looper looper([&asked] {
      ++asked;
      return Clock::now();
    });
    if (measured) {
      looper.MeasureLoad();
    }
    looper.RunAfter(std::chrono::hours(1), [] {});
    int rounds = 0;
    int first = 0;
    std::function<void()> again = [&] {
      first = rounds == 0 ? asked.load() : first;
      if (++rounds <= 100) {
        static_cast<void>(looper.Post(again));
      } else {
        looper.Stop();
      }
    };
    static_cast<void>(looper.Post(again));
    std::thread thread([&looper] { looper.Loop(); });
    thread.join();
    EXPECT_LE(asked - first, 2 * 100 + 4) << (measured ? "measured" : "not measured");
  }
}

TEST(LooperLoadTest, ConnectionsAreCountedWhenTheyComeAndStayCounted) {
  const ConnectionCallbacks callbacks{{}, test::Echo, {}, {}};
  test::LoopThread loop;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    test::Client client = loop.Connect(callbacks);
    EXPECT_EQ(loop.Get().AddedCount(), i);
    client.FinishSending();
    EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  }
  EXPECT_EQ(loop.Get().AddedCount(), 3U);
}

}  // namespace
}  // namespace TURTLE_SERVER
