// Timers without a loop and without a clock.
#include "core/timer_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

// The test's time zero: not the clock's, which might hide a forgotten offset.
constexpr TimePoint kStart{std::chrono::hours(5)};

auto At(int ms) -> TimePoint { return kStart + milliseconds(ms); }

class TimerQueueTest : public ::testing::Test {
 protected:
  // Returns a callback that records its number.
  auto Note(int number) -> Task {
    return [this, number] { ran_.push_back(number); };
  }

  TimerQueue queue_;
  std::vector<int> ran_;
};

TEST_F(TimerQueueTest, RunsWhatIsDueAndNothingElse) {
  queue_.Add(At(10), Note(10));
  queue_.Add(At(20), Note(20));
  EXPECT_EQ(queue_.RunDue(At(9)), 0U);
  EXPECT_EQ(queue_.RunDue(At(10)), 1U) << "due means: the time has come, not: it is over";
  EXPECT_EQ(ran_, (std::vector<int>{10}));
  EXPECT_EQ(queue_.RunDue(At(10)), 0U) << "once";
  EXPECT_EQ(queue_.RunDue(At(500)), 1U);
  EXPECT_EQ(ran_, (std::vector<int>{10, 20}));
}

TEST_F(TimerQueueTest, TheEarliestComesFirstAndEqualsInTheirOrder) {
  queue_.Add(At(30), Note(5));
  queue_.Add(At(10), Note(1));
  queue_.Add(At(20), Note(2));
  queue_.Add(At(20), Note(3));
  queue_.Add(At(20), Note(4));
  EXPECT_EQ(queue_.RunDue(At(30)), 5U);
  EXPECT_EQ(ran_, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_F(TimerQueueTest, SaysWhenToWakeUp) {
  EXPECT_EQ(queue_.Next(), std::nullopt);
  queue_.Add(At(20), Note(20));
  const TimerId first = queue_.Add(At(10), Note(10));
  EXPECT_EQ(queue_.Next(), At(10));
  EXPECT_TRUE(queue_.Cancel(first));
  EXPECT_EQ(queue_.Next(), At(20));
  queue_.RunDue(At(20));
  EXPECT_EQ(queue_.Next(), std::nullopt);
}

TEST_F(TimerQueueTest, ADeadlineInThePastIsDueNow) {
  queue_.RunDue(At(100));
  queue_.Add(At(-50), Note(1));
  EXPECT_TRUE(ran_.empty()) << "never within Add()";
  EXPECT_EQ(queue_.RunDue(At(100)), 1U);
}

TEST_F(TimerQueueTest, CancelIsTrueOnce) {
  const auto witness = std::make_shared<int>(0);
  const TimerId id = queue_.Add(At(10), [witness] { ++*witness; });
  EXPECT_TRUE(queue_.Cancel(id));
  EXPECT_EQ(witness.use_count(), 1) << "what the callback holds is let go at once";
  EXPECT_FALSE(queue_.Cancel(id));
  EXPECT_EQ(queue_.RunDue(At(10)), 0U);
  EXPECT_FALSE(queue_.Cancel(TimerId{})) << "no timer has this name";
}

TEST_F(TimerQueueTest, ANameIsNeverUsedAgain) {
  const TimerId old = queue_.Add(At(10), Note(1));
  queue_.RunDue(At(10));
  queue_.Add(At(10), Note(2));
  EXPECT_FALSE(queue_.Cancel(old)) << "it ran already";
  queue_.RunDue(At(10));
  EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
}

TEST_F(TimerQueueTest, OneCallbackMayCancelTheNextOfTheSameBatch) {
  TimerId second;
  queue_.Add(At(10), [&] {
    ran_.push_back(1);
    EXPECT_TRUE(queue_.Cancel(second));
    EXPECT_FALSE(queue_.Cancel(second));
  });
  second = queue_.Add(At(10), Note(2));
  queue_.Add(At(10), Note(3));
  EXPECT_EQ(queue_.RunDue(At(10)), 2U);
  EXPECT_EQ(ran_, (std::vector<int>{1, 3}));
}

TEST_F(TimerQueueTest, ACallbackCanNotCancelItself) {
  TimerId self;
  self = queue_.Add(At(10), [&] { EXPECT_FALSE(queue_.Cancel(self)) << "it is running already"; });
  EXPECT_EQ(queue_.RunDue(At(10)), 1U);
}

TEST_F(TimerQueueTest, WhatACallbackAddsWaitsForTheNextCall) {
  queue_.Add(At(10), [&] {
    ran_.push_back(1);
    queue_.Add(At(0), Note(2));  // long due, but a timer that repeats this forever must not hang us
  });
  EXPECT_EQ(queue_.RunDue(At(10)), 1U);
  EXPECT_EQ(ran_, (std::vector<int>{1}));
  EXPECT_EQ(queue_.Next(), At(0)) << "and the loop must not sleep over it";
  EXPECT_EQ(queue_.RunDue(At(10)), 1U);
  EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace TURTLE_SERVER
