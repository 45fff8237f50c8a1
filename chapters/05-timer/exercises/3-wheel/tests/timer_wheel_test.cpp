#include "core/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

std::size_t made = 0;  // blocks of memory that this program was ever given

}  // namespace

auto operator new(std::size_t size) -> void* {
  void* const memory = std::malloc(size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  ++made;
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace TURTLE_SERVER {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kTick{10};
constexpr milliseconds kTurn = kTick * TimerWheel::kSlots;
const TimePoint kBegin{hours(1)};

// A wheel, and timers that write down which of them ran.
class TimerWheelTest : public ::testing::Test {
 protected:
  auto Timer(std::string name) -> WheelTimer& {
    return timers_.emplace_back([this, name = std::move(name)] { ran_ += name; });
  }

  // Returns the names of the timers that run at that time.
  auto RunAt(Clock::duration time) -> std::string {
    ran_.clear();
    wheel_.RunDue(kBegin + time);
    return std::exchange(ran_, {});
  }

  std::string ran_;
  std::deque<WheelTimer> timers_;
  TimerWheel wheel_{kBegin, kTick};
};

TEST_F(TimerWheelTest, ATimerRunsWhenItsTickHasComeAndOnce) {
  WheelTimer& timer = Timer("a");
  EXPECT_FALSE(timer.Armed());
  wheel_.Arm(timer, kBegin + milliseconds(100));
  EXPECT_TRUE(timer.Armed());
  EXPECT_EQ(RunAt(milliseconds(99)), "");
  EXPECT_EQ(wheel_.RunDue(kBegin + milliseconds(100)), 1U);
  EXPECT_EQ(ran_, "a");
  EXPECT_FALSE(timer.Armed());
  EXPECT_EQ(RunAt(2 * kTurn), "");
}

TEST_F(TimerWheelTest, NeverEarlyAndLateByLessThanATick) {
  wheel_.Arm(Timer("a"), kBegin + milliseconds(91));
  wheel_.Arm(Timer("b"), kBegin + milliseconds(100) + std::chrono::nanoseconds(1));
  EXPECT_EQ(RunAt(milliseconds(99)), "");
  EXPECT_EQ(RunAt(milliseconds(100)), "a");
  EXPECT_EQ(RunAt(milliseconds(109)), "");
  EXPECT_EQ(RunAt(milliseconds(110)), "b");
}

TEST_F(TimerWheelTest, TheFarFutureWaitsForItsTurn) {
  wheel_.Arm(Timer("c"), kBegin + 3 * kTurn);
  wheel_.Arm(Timer("b"), kBegin + kTurn + milliseconds(20));
  wheel_.Arm(Timer("a"), kBegin + milliseconds(20));
  std::string ran;
  for (Clock::duration time{0}; time < 2 * kTurn; time += kTick) {
    const std::string now = RunAt(time);
    EXPECT_TRUE(now.empty() || time == milliseconds(20) || time == kTurn + milliseconds(20)) << now;
    ran += now;
  }
  EXPECT_EQ(ran, "ab");
  EXPECT_EQ(RunAt(3 * kTurn - kTick), "");
  EXPECT_EQ(RunAt(3 * kTurn), "c");
}

TEST_F(TimerWheelTest, MaxIsNever) {
  WheelTimer& timer = Timer("never");
  wheel_.Arm(timer, TimePoint::max());
  EXPECT_EQ(RunAt(hours(1'000'000)), "");
  wheel_.Arm(timer, kBegin);
  EXPECT_EQ(RunAt(hours(1'000'000)), "never");
}

TEST_F(TimerWheelTest, WhatHasPassedIsDueTheNextTime) {
  EXPECT_EQ(RunAt(milliseconds(505)), "");
  wheel_.Arm(Timer("a"), kBegin + milliseconds(300));
  wheel_.Arm(Timer("b"), TimePoint());
  EXPECT_EQ(RunAt(milliseconds(505)), "ab");
}

TEST_F(TimerWheelTest, TheOrderIsThatOfTheTicksThenThatOfArming) {
  WheelTimer& moved = Timer("d");
  wheel_.Arm(moved, kBegin + milliseconds(55));
  wheel_.Arm(Timer("c"), kBegin + milliseconds(60));
  wheel_.Arm(Timer("b"), kBegin + milliseconds(49));
  wheel_.Arm(Timer("a"), kBegin + milliseconds(10));
  wheel_.Arm(moved, kBegin + milliseconds(51));
  EXPECT_EQ(RunAt(milliseconds(200)), "abcd");
}

TEST_F(TimerWheelTest, AMovedTimerHasOneTime) {
  WheelTimer& timer = Timer("a");
  wheel_.Arm(timer, kBegin + milliseconds(50));
  wheel_.Arm(timer, kBegin + milliseconds(500));
  EXPECT_EQ(RunAt(milliseconds(499)), "");
  wheel_.Arm(timer, kBegin + kTurn);
  wheel_.Arm(timer, kBegin + milliseconds(510));
  EXPECT_EQ(RunAt(milliseconds(510)), "a");
  EXPECT_EQ(RunAt(2 * kTurn), "");
}

TEST_F(TimerWheelTest, WhatIsDisarmedOrEndedDoesNotRun) {
  WheelTimer& timer = Timer("a");
  wheel_.Arm(timer, kBegin + kTick);
  {
    WheelTimer ended([this] { ran_ += "ended"; });
    wheel_.Arm(ended, kBegin + kTick);
  }
  wheel_.Arm(Timer("b"), kBegin + kTick);
  wheel_.Disarm(timer);
  wheel_.Disarm(timer);
  EXPECT_FALSE(timer.Armed());
  EXPECT_EQ(RunAt(kTick), "b");
}

TEST_F(TimerWheelTest, ATaskMayDisarmAndEndTheOthersOfItsBatch) {
  WheelTimer* second = nullptr;
  auto third = std::make_unique<WheelTimer>([this] { ran_ += "third"; });
  WheelTimer first([&] {
    ran_ += "first ";
    EXPECT_TRUE(second->Armed()) << "it has not run yet";
    wheel_.Disarm(*second);
    third.reset();
  });
  WheelTimer next([this] { ran_ += "second"; });
  second = &next;
  wheel_.Arm(first, kBegin);
  wheel_.Arm(next, kBegin);
  wheel_.Arm(*third, kBegin + kTick);
  wheel_.Arm(Timer("fourth"), kBegin + kTick);
  EXPECT_EQ(RunAt(kTick), "first fourth");
}

TEST_F(TimerWheelTest, ATaskMayEndItsOwnTimer) {
  const auto witness = std::make_shared<int>(0);
  std::optional<WheelTimer> timer;
  timer.emplace([&timer, witness] {
    timer.reset();
    ++*witness;
  });
  wheel_.Arm(*timer, kBegin);
  EXPECT_EQ(wheel_.RunDue(kBegin), 1U);
  EXPECT_EQ(*witness, 1);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST_F(TimerWheelTest, WhatATaskArmsWaitsForTheNextTime) {
  int ran = 0;
  std::optional<WheelTimer> again;
  WheelTimer moved([this] { ran_ += "moved"; });
  again.emplace([&] {
    ++ran;
    wheel_.Arm(*again, kBegin);
    wheel_.Arm(moved, kBegin);  // it was due as well, and is armed again
  });
  wheel_.Arm(*again, kBegin);
  wheel_.Arm(moved, kBegin);
  EXPECT_EQ(wheel_.RunDue(kBegin + kTick), 1U);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(ran_, "");
  EXPECT_EQ(wheel_.RunDue(kBegin + kTick), 1U) << "which moves the other one once more";
  again.reset();
  EXPECT_EQ(RunAt(kTick), "moved");
}

// After a laptop has slept, the wheel must not step through each tick that it missed.
TEST_F(TimerWheelTest, TheClockMayLeap) {
  TimerWheel fine(kBegin, std::chrono::nanoseconds(1));
  WheelTimer& near = Timer("near ");
  fine.Arm(near, kBegin + milliseconds(1));
  fine.Arm(Timer("far"), kBegin + hours(20'000));
  EXPECT_EQ(fine.RunDue(kBegin + hours(10'000)), 1U);
  EXPECT_EQ(ran_, "near ");
  fine.Arm(near, kBegin + hours(30'000));
  EXPECT_EQ(fine.RunDue(kBegin + hours(25'000)), 1U);
  EXPECT_EQ(ran_, "near far");
  fine.Disarm(near);
}

TEST_F(TimerWheelTest, AWheelMayGoBeforeItsTimers) {
  WheelTimer& timer = Timer("a");
  {
    TimerWheel other(kBegin, kTick);
    other.Arm(timer, kBegin + kTick);
  }
  EXPECT_FALSE(timer.Armed());
  wheel_.Arm(timer, kBegin + kTick);
  EXPECT_EQ(RunAt(kTick), "a");
}

TEST_F(TimerWheelTest, ATimerMayGoFromWheelToWheel) {
  WheelTimer& timer = Timer("a");
  TimerWheel other(kBegin, kTick);
  other.Arm(timer, kBegin + kTick);
  wheel_.Arm(timer, kBegin + kTick);
  EXPECT_EQ(other.RunDue(kBegin + kTick), 0U);
  EXPECT_EQ(RunAt(kTick), "a");
}

TEST_F(TimerWheelTest, NothingIsAllocated) {
  int ran = 0;
  std::deque<WheelTimer> timers;
  for (int i = 0; i < 100; ++i) {
    timers.emplace_back([&ran] { ++ran; });
  }
  const std::size_t before = made;
  for (int round = 0; round < 100; ++round) {
    for (WheelTimer& timer : timers) {
      wheel_.Arm(timer, kBegin + kTurn * round);
      wheel_.Arm(timer, kBegin + kTurn * round + milliseconds(30));
    }
    wheel_.Disarm(timers.front());
    wheel_.RunDue(kBegin + kTurn * round + milliseconds(30));
  }
  EXPECT_EQ(made, before);
  EXPECT_EQ(ran, 9'900);
}

// Looking for a timer in its slot, or at all timers in each call, takes minutes.
TEST_F(TimerWheelTest, ACrowdInOneSlotCostsNothing) {
  std::deque<WheelTimer> crowd;
  for (int i = 0; i < 200'000; ++i) {
    wheel_.Arm(crowd.emplace_back([] {}), kBegin + kTurn - kTick);
  }
  for (int i = 0; i < 200'000; ++i) {
    ASSERT_EQ(wheel_.RunDue(kBegin), 0U);
  }
  for (std::size_t i = 0; i < crowd.size(); ++i) {
    WheelTimer& timer = crowd[i * 7'919 % crowd.size()];  // each of them, in no order
    wheel_.Arm(timer, kBegin + kTurn);
    wheel_.Disarm(timer);
  }
  EXPECT_EQ(wheel_.RunDue(kBegin + 2 * kTurn), 0U);
}

// Beside a model that sorts.
TEST_F(TimerWheelTest, DoesWhatAQueueWouldDo) {
  std::mt19937 random(7);
  std::vector<int> ran;
  std::deque<WheelTimer> timers;
  for (int i = 0; i < 50; ++i) {
    timers.emplace_back([&ran, i] { ran.push_back(i); });
  }
  std::map<int, std::pair<std::int64_t, int>> model;  // timer -> its tick, and when it was armed
  std::int64_t now = 0;                               // in ticks
  for (int step = 0; step < 20'000; ++step) {
    const int which = static_cast<int>(random() % timers.size());
    const auto far = static_cast<std::int64_t>(random() % 2'000);
    switch (random() % 4) {
      case 0:
      case 1:
        wheel_.Arm(timers[static_cast<std::size_t>(which)], kBegin + kTick * (now + far - 100));
        model[which] = {std::max(now, now + far - 100), step};
        break;
      case 2:
        wheel_.Disarm(timers[static_cast<std::size_t>(which)]);
        model.erase(which);
        break;
      default:
        now += static_cast<std::int64_t>(random() % 40);
        std::vector<std::pair<std::pair<std::int64_t, int>, int>> due;
        for (const auto& [timer, when] : model) {
          if (when.first <= now) {
            due.emplace_back(when, timer);
          }
        }
        std::sort(due.begin(), due.end());
        std::vector<int> expected;
        for (const auto& [when, timer] : due) {
          expected.push_back(timer);
          model.erase(timer);
        }
        ran.clear();
        EXPECT_EQ(wheel_.RunDue(kBegin + kTick * now), expected.size());
        ASSERT_EQ(ran, expected) << step;
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
