// Tasks that wait for a thread: their order, which one a full queue drops, and the end of each.
#include "task/task_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/captured_stderr.h"
#include "support/gate.h"
#include "support/held_pool.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Await;
using test::Gate;
using test::HeldPool;
using test::OpensAtEnd;

constexpr TaskPool::TaskOptions kHigh{Priority::kHigh};
constexpr TaskPool::TaskOptions kNormal{Priority::kNormal};
constexpr TaskPool::TaskOptions kLow{Priority::kLow};

// A clock that only the test turns. Any thread.
class HandClock {
 public:
  auto Source() -> TaskPool::ClockSource {
    return [this] { return Now(); };
  }
  auto Now() const -> TaskPool::TimePoint {
    return TaskPool::TimePoint(TaskPool::Clock::duration(ticks_.load()));
  }
  void Advance(TaskPool::Clock::duration by) { ticks_ += by.count(); }

 private:
  std::atomic<TaskPool::Clock::rep> ticks_{
      TaskPool::Clock::duration(std::chrono::hours(1)).count()};
};

// The outcomes of the tasks, by name.
class Notes {
 public:
  auto Task(const std::string& name) -> std::shared_ptr<PoolTask> {
    return MakeTask([this, name](const PoolTask&) { Write(name); },
                    [this, name](DropReason why) {
                      Write(name + (why == DropReason::kCancelled ? " cancelled"
                                    : why == DropReason::kExpired ? " expired"
                                                                  : " stopped"));
                    });
  }
  void Write(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  auto Lines() -> std::vector<std::string> {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

using Lines = std::vector<std::string>;

auto Threads(std::size_t threads, std::size_t max_queued = 1024) -> TaskPoolOptions {
  TaskPoolOptions options;
  options.threads = threads;
  options.max_queued = max_queued;
  return options;
}

auto Leave(TaskPool& pool, const std::shared_ptr<PoolTask>& task,
           const TaskPool::TaskOptions& options = {}) -> bool {
  return pool.Submit(task, options) == SubmitResult::kAccepted;
}

// Lets its threads run, and waits until they have run `count` tasks besides those that held them.
auto RunAll(HeldPool& pool, std::uint64_t count) -> bool {
  pool.Release();
  return pool.IsHeld() && Await([&] { return pool.Figures().ran == count + pool.Threads(); });
}

TEST(TaskPoolTest, AHigherPriorityGoesFirst) {
  HandClock clock;
  Notes notes;
  HeldPool pool(Threads(1), clock.Source());
  ASSERT_TRUE(Leave(pool, notes.Task("low"), kLow));
  ASSERT_TRUE(Leave(pool, notes.Task("normal"), kNormal));
  ASSERT_TRUE(Leave(pool, notes.Task("high"), kHigh));
  ASSERT_TRUE(Leave(pool, notes.Task("normal 2"), kNormal));
  ASSERT_TRUE(Leave(pool, notes.Task("high 2"), kHigh));
  EXPECT_EQ(pool.Figures().queued, 5U);
  ASSERT_TRUE(RunAll(pool, 5));
  EXPECT_EQ(notes.Lines(), (Lines{"high", "high 2", "normal", "normal 2", "low"}));
  EXPECT_EQ(pool.Figures().queued, 0U);
}

// By `overtake` for each step, and not more.
TEST(TaskPoolTest, WhoHasWaitedIsNotOvertakenAnyMore) {
  TaskPoolOptions options = Threads(1);
  options.overtake = milliseconds(1000);
  for (const auto& [late, low_first] : {std::pair{1999, false}, {2000, false}, {2001, true}}) {
    HandClock clock;
    Notes notes;
    HeldPool pool(options, clock.Source());
    ASSERT_TRUE(Leave(pool, notes.Task("low"), kLow));
    clock.Advance(milliseconds(late));
    ASSERT_TRUE(Leave(pool, notes.Task("high"), kHigh));
    ASSERT_TRUE(RunAll(pool, 2));
    EXPECT_EQ(notes.Lines(), (low_first ? Lines{"low", "high"} : Lines{"high", "low"})) << late;
  }
  for (const auto& [late, normal_first] : {std::pair{1000, false}, {1001, true}}) {
    HandClock clock;
    Notes notes;
    HeldPool pool(options, clock.Source());
    ASSERT_TRUE(Leave(pool, notes.Task("normal"), kNormal));
    clock.Advance(milliseconds(late));
    ASSERT_TRUE(Leave(pool, notes.Task("high"), kHigh));
    ASSERT_TRUE(RunAll(pool, 2));
    EXPECT_EQ(notes.Lines(), (normal_first ? Lines{"normal", "high"} : Lines{"high", "normal"}))
        << late;
  }
}

// There is always a task of a higher priority, and more of them than can be run.
TEST(TaskPoolTest, NobodyStarves) {
  HandClock clock;
  Notes notes;
  HeldPool pool(Threads(1), clock.Source());
  ASSERT_TRUE(Leave(pool, notes.Task("low"), kLow));
  for (int i = 0; i < 50; ++i) {
    clock.Advance(milliseconds(100));
    ASSERT_TRUE(Leave(pool, notes.Task("high " + std::to_string(i)), kHigh));
  }
  ASSERT_TRUE(RunAll(pool, 51));
  EXPECT_EQ(notes.Lines()[20], "low") << "20 have come within two seconds";
}

TEST(TaskPoolTest, AFullQueueRefusesAtOnce) {
  Notes notes;
  HeldPool pool(Threads(1, 2));
  ASSERT_TRUE(Leave(pool, notes.Task("one"), kLow));
  const auto two = notes.Task("two");
  ASSERT_TRUE(Leave(pool, two, kLow));
  const auto witness = std::make_shared<int>(0);
  EXPECT_EQ(pool.Submit(MakeTask([witness](const PoolTask&) {}), kHigh), SubmitResult::kFull);
  EXPECT_EQ(witness.use_count(), 1) << "what it holds is let go";
  EXPECT_EQ(pool.Figures().refused, 1U);
  EXPECT_TRUE(pool.Cancel(*two));
  EXPECT_TRUE(Leave(pool, notes.Task("three"), kLow)) << "there is room again";
  ASSERT_TRUE(RunAll(pool, 2));
  EXPECT_EQ(notes.Lines(), (Lines{"two cancelled", "one", "three"}));
}

TEST(TaskPoolTest, WhoRunsHoldsNoPlaceInTheQueue) {
  Gate gate;
  TaskPool pool(Threads(1, 1));
  const OpensAtEnd opens(gate);
  pool.Start();
  ASSERT_TRUE(Leave(pool, MakeTask([&](const PoolTask&) { gate.Pass(); })));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  EXPECT_EQ(pool.Figures().running, 1U);
  EXPECT_TRUE(Leave(pool, MakeTask([](const PoolTask&) {})));
  EXPECT_FALSE(Leave(pool, MakeTask([](const PoolTask&) {})));
}

TEST(TaskPoolTest, ACancelledTaskIsNotRun) {
  Notes notes;
  HeldPool pool(Threads(1));
  const auto first = notes.Task("first");
  const auto middle = notes.Task("middle");
  const auto last = notes.Task("last");
  for (const auto& task : {first, middle, last, notes.Task("other")}) {
    ASSERT_TRUE(Leave(pool, task));
  }
  EXPECT_TRUE(pool.Cancel(*middle));
  EXPECT_TRUE(pool.Cancel(*first));
  EXPECT_FALSE(pool.Cancel(*first)) << "it has gone";
  EXPECT_TRUE(first->Cancelled());
  EXPECT_FALSE(last->Cancelled());
  ASSERT_TRUE(RunAll(pool, 2));
  EXPECT_FALSE(pool.Cancel(*last)) << "it has run";
  EXPECT_EQ(notes.Lines(), (Lines{"middle cancelled", "first cancelled", "last", "other"}));
  EXPECT_EQ(pool.Figures().cancelled, 2U);
}

TEST(TaskPoolTest, ATaskThatRunsCanAsk) {
  Gate begun;
  std::atomic<bool> told{false};
  TaskPool pool(Threads(1));
  pool.Start();
  const auto task = MakeTask(
      [&](const PoolTask& self) {
        begun.Open();
        told = Await([&] { return self.Cancelled(); });
      },
      [](DropReason) { ADD_FAILURE() << "it was run"; });
  ASSERT_TRUE(Leave(pool, task));
  begun.Pass();
  EXPECT_FALSE(pool.Expire(*task));
  EXPECT_FALSE(task->Cancelled()) << "it has begun in time";
  EXPECT_FALSE(pool.Cancel(*task)) << "it runs";
  ASSERT_TRUE(Await([&] { return pool.Figures().ran == 1; }));
  EXPECT_TRUE(told);
  EXPECT_EQ(pool.Figures().cancelled, 0U);
}

TEST(TaskPoolTest, AfterItsDeadlineATaskIsNotBegun) {
  HandClock clock;
  Notes notes;
  HeldPool pool(Threads(1), clock.Source());
  const auto deadline = clock.Now() + milliseconds(10);
  ASSERT_TRUE(Leave(pool, notes.Task("late"), {Priority::kNormal, deadline}));
  ASSERT_TRUE(Leave(pool, notes.Task("in time"),
                    {Priority::kNormal, deadline + TaskPool::Clock::duration(1)}));
  ASSERT_TRUE(Leave(pool, notes.Task("patient")));
  clock.Advance(milliseconds(10));
  ASSERT_TRUE(RunAll(pool, 2));
  EXPECT_EQ(notes.Lines(), (Lines{"late expired", "in time", "patient"}));
  EXPECT_EQ(pool.Figures().expired, 1U);
}

TEST(TaskPoolTest, WhoKnowsEarlierMayDropIt) {
  Notes notes;
  HeldPool pool(Threads(1));
  const auto task = notes.Task("task");
  ASSERT_TRUE(Leave(pool, task));
  EXPECT_TRUE(pool.Expire(*task));
  EXPECT_FALSE(pool.Expire(*task));
  EXPECT_FALSE(task->Cancelled());
  EXPECT_EQ(notes.Lines(), (Lines{"task expired"}));
  EXPECT_EQ(pool.Figures().expired, 1U);
  EXPECT_EQ(pool.Figures().queued, 0U);
}

TEST(TaskPoolTest, StopFinishesWhatRunsAndDropsWhatWaits) {
  Gate gate;
  Notes notes;
  TaskPool pool(Threads(1));
  const OpensAtEnd opens(gate);
  pool.Start();
  ASSERT_TRUE(Leave(pool, MakeTask([&](const PoolTask&) {
                      gate.Pass();
                      notes.Write("finished");
                    })));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  ASSERT_TRUE(Leave(pool, notes.Task("low"), kLow));
  ASSERT_TRUE(Leave(pool, notes.Task("high"), kHigh));
  std::thread stopper([&] { pool.Stop(); });
  EXPECT_TRUE(Await([&] { return notes.Lines().size() == 2; })) << "they are told at once";
  EXPECT_EQ(pool.Submit(notes.Task("more"), kHigh), SubmitResult::kStopped);
  gate.Open();
  stopper.join();
  EXPECT_EQ(notes.Lines(), (Lines{"high stopped", "low stopped", "finished"}));
  EXPECT_EQ(pool.Figures().stopped, 2U);
  EXPECT_EQ(pool.Figures().ran, 1U);
  pool.Stop();
}

TEST(TaskPoolTest, ItsDestructorStopsIt) {
  Gate gate;
  std::vector<DropReason> dropped;
  {
    TaskPool pool(Threads(1));
    ASSERT_TRUE(Leave(pool, MakeTask([&](const PoolTask&) { gate.Pass(); })));
    ASSERT_TRUE(gate.AwaitArrivals(1));
    ASSERT_TRUE(Leave(pool, MakeTask([](const PoolTask&) { ADD_FAILURE() << "it was run"; },
                                     [&](DropReason why) {
                                       dropped.push_back(why);
                                       gate.Open();
                                     })));
  }
  EXPECT_EQ(dropped, std::vector<DropReason>{DropReason::kStopped});
}

TEST(TaskPoolTest, ATaskThatThrowsIsLoggedAndItsThreadGoesOn) {
  const test::CapturedStderr captured;
  HeldPool pool(Threads(1));
  ASSERT_TRUE(
      Leave(pool, MakeTask([](const PoolTask&) { throw std::runtime_error("no such luck"); })));
  ASSERT_TRUE(Leave(pool, MakeTask([](const PoolTask&) { throw 42; })));
  ASSERT_TRUE(Leave(pool, MakeTask([](const PoolTask&) {})));
  ASSERT_TRUE(RunAll(pool, 3));
  EXPECT_EQ(pool.Figures().running, 0U);
  EXPECT_NE(captured.Text().find("no such luck"), std::string::npos) << captured.Text();
  EXPECT_NE(captured.Text().find("no std::exception"), std::string::npos) << captured.Text();
}

TEST(TaskPoolTest, WithoutThreadsItRefusesAndSaysSo) {
  const test::CapturedStderr captured;
  TaskPool pool(Threads(0));
  pool.Start();
  EXPECT_EQ(pool.Submit(MakeTask([](const PoolTask&) {}), kHigh), SubmitResult::kStopped);
  EXPECT_EQ(pool.Threads(), 0U);
  EXPECT_NE(captured.Text().find("task_processes 0"), std::string::npos) << captured.Text();
}

TEST(TaskPoolTest, WithoutANumberItHasAFewThreads) {
  const TaskPool pool;
  EXPECT_GE(pool.Threads(), 2U);
  EXPECT_LE(pool.Threads(), 16U);
}

TEST(TaskPoolTest, WithoutANumberTheFirstTaskStartsTheThreads) {
  Gate gate;
  TaskPool pool;
  const OpensAtEnd opens(gate);
  ASSERT_TRUE(Leave(pool, MakeTask([&gate](const PoolTask&) { gate.Pass(); })));
  ASSERT_TRUE(Leave(pool, MakeTask([&gate](const PoolTask&) { gate.Pass(); })));
  EXPECT_TRUE(gate.AwaitArrivals(2));  // one does not wait for the other
}

// Nobody reports that Start() was forgotten: its clients would wait forever.
TEST(TaskPoolTest, WithANumberTheFirstTaskStartsTheThreadsToo) {
  Gate gate;
  TaskPool pool({2});
  const OpensAtEnd opens(gate);
  ASSERT_TRUE(Leave(pool, MakeTask([&gate](const PoolTask&) { gate.Pass(); })));
  ASSERT_TRUE(Leave(pool, MakeTask([&gate](const PoolTask&) { gate.Pass(); })));
  EXPECT_TRUE(gate.AwaitArrivals(2));
}

TEST(TaskPoolTest, StartIsHarmlessAfterTheFirstTask) {
  Gate gate;
  TaskPool pool({1});
  const OpensAtEnd opens(gate);
  ASSERT_TRUE(Leave(pool, MakeTask([&gate](const PoolTask&) { gate.Pass(); })));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  pool.Start();
  ASSERT_TRUE(Leave(pool, MakeTask([](const PoolTask&) {})));
  EXPECT_EQ(pool.Figures().queued, 1U) << "there is no second thread";
}

TEST(TaskPoolTest, WithoutANumberItMayStopBeforeItStarts) {
  TaskPool pool;
  pool.Stop();
  EXPECT_EQ(pool.Submit(MakeTask([](const PoolTask&) {}), kHigh), SubmitResult::kStopped);
}

TEST(TaskPoolTest, WhatATaskHoldsIsLetGo) {
  const auto witness = std::make_shared<int>(0);
  HeldPool pool(Threads(1));
  ASSERT_TRUE(Leave(pool, MakeTask([witness](const PoolTask&) {})));
  ASSERT_TRUE(RunAll(pool, 1));
  EXPECT_EQ(witness.use_count(), 1);
}

// No lock is held while a task runs or is dropped.
TEST(TaskPoolTest, TasksMayUseThePool) {
  Notes notes;
  HeldPool pool(Threads(1));
  const auto other = notes.Task("other");
  const auto dropped = MakeTask([](const PoolTask&) {},
                                [&](DropReason) { EXPECT_TRUE(Leave(pool, notes.Task("after"))); });
  ASSERT_TRUE(Leave(pool, MakeTask([&](const PoolTask&) {
                      EXPECT_TRUE(pool.Cancel(*other));
                      EXPECT_TRUE(pool.Cancel(*dropped));
                      EXPECT_TRUE(Leave(pool, notes.Task("more"), kHigh));
                      EXPECT_EQ(pool.Figures().running, 1U);
                    })));
  ASSERT_TRUE(Leave(pool, other));
  ASSERT_TRUE(Leave(pool, dropped));
  ASSERT_TRUE(RunAll(pool, 3));
  EXPECT_EQ(notes.Lines(), (Lines{"other cancelled", "more", "after"}));
}

TEST(TaskPoolTest, HasAsManyThreadsAsItWasTold) {
  constexpr std::size_t kThreads = 4;
  Gate gate;
  TaskPool pool(Threads(kThreads));
  const OpensAtEnd opens(gate);
  pool.Start();
  for (std::size_t i = 0; i < kThreads; ++i) {
    ASSERT_TRUE(Leave(pool, MakeTask([&](const PoolTask&) { gate.Pass(); })));
  }
  EXPECT_TRUE(gate.AwaitArrivals(kThreads));
}

// Submitting, cancelling, expiring and the end, all at the same time.
TEST(TaskPoolTest, EachTaskIsRunOrDroppedOnce) {
  constexpr std::size_t kSubmitters = 4;
  constexpr std::size_t kTasks = 2000;
  struct Fate {
    std::atomic<int> ran{0};
    std::atomic<int> dropped{0};
    bool accepted = false;
  };
  std::vector<Fate> fates(kSubmitters * kTasks);
  TaskPool pool(Threads(3, 64));
  pool.Start();
  std::vector<std::thread> submitters;
  for (std::size_t submitter = 0; submitter < kSubmitters; ++submitter) {
    submitters.emplace_back([&, submitter] {
      for (std::size_t i = 0; i < kTasks; ++i) {
        Fate& fate = fates[submitter * kTasks + i];
        const auto task = MakeTask([&fate](const PoolTask&) { ++fate.ran; },
                                   [&fate](DropReason) { ++fate.dropped; });
        const auto deadline = i % 5 == 0 ? TaskPool::Clock::now() : TaskPool::kNever;
        fate.accepted = Leave(pool, task, {static_cast<Priority>(i % 3), deadline});
        if (i % 3 == 0) {
          pool.Cancel(*task);
        } else if (i % 7 == 0) {
          pool.Expire(*task);
        }
      }
    });
  }
  for (std::thread& submitter : submitters) {
    submitter.join();
  }
  pool.Stop();
  std::uint64_t accepted = 0;
  for (const Fate& fate : fates) {
    ASSERT_EQ(fate.ran + fate.dropped, fate.accepted ? 1 : 0);
    accepted += fate.accepted ? 1 : 0;
  }
  const TaskFigures end = pool.Figures();
  EXPECT_EQ(end.queued + end.running, 0U);
  EXPECT_EQ(end.ran + end.cancelled + end.expired + end.stopped, accepted);
  EXPECT_EQ(end.refused, fates.size() - accepted);
}

}  // namespace
}  // namespace TURTLE_SERVER
