#include "task/strand.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
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

using test::Await;
using test::Gate;
using test::HeldPool;
using test::OpensAtEnd;

constexpr std::size_t kMany = 1'000'000;

auto Threads(std::size_t threads, std::size_t max_queued = 1024) -> TaskPoolOptions {
  TaskPoolOptions options;
  options.threads = threads;
  options.max_queued = max_queued;
  return options;
}

// The work that was run, in this order.
class Notes {
 public:
  auto Work(const std::string& name) -> Strand::Work {
    return [this, name] { Write(name); };
  }
  void Write(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.push_back(name);
  }
  auto Names() -> std::vector<std::string> {
    const std::lock_guard lock(mutex_);
    return names_;
  }
  auto AwaitNames(std::size_t count) -> bool {
    return Await([&] { return Names().size() >= count; });
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> names_;
};

using Names = std::vector<std::string>;

auto Leave(Strand& strand, Strand::Work work) -> bool {
  return strand.Submit(std::move(work)) == SubmitResult::kAccepted;
}

auto Leave(TaskPool& pool, Strand::Work work) -> bool {
  return pool.Submit(MakeTask([work = std::move(work)](const PoolTask&) { work(); }), {}) ==
         SubmitResult::kAccepted;
}

TEST(StrandTest, RunsWhatItIsGivenInOrder) {
  Notes notes;
  TaskPool pool(Threads(4));
  Strand strand(pool, Priority::kNormal, kMany);
  pool.Start();
  Names expected;
  for (int i = 0; i < 1000; ++i) {
    expected.push_back(std::to_string(i));
    ASSERT_TRUE(Leave(strand, notes.Work(expected.back())));
  }
  ASSERT_TRUE(notes.AwaitNames(1000));
  EXPECT_EQ(notes.Names(), expected);
}

// Nothing but the strand keeps the threads apart.
TEST(StrandTest, NeverTwoAtATime) {
  constexpr std::size_t kSubmitters = 8;
  constexpr std::size_t kEach = 300;
  struct Line {
    std::array<std::size_t, kSubmitters> next{};  // each submitter's next work
    std::size_t ran = 0;
    std::atomic<bool> inside{false};
  };
  std::array<Line, 3> lines;
  std::atomic<std::size_t> all{0};
  std::atomic<bool> two_at_a_time{false};
  std::atomic<bool> out_of_order{false};
  TaskPool pool(Threads(4));
  std::vector<std::unique_ptr<Strand>> strands;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    strands.push_back(std::make_unique<Strand>(pool, Priority::kNormal, kMany));
  }
  pool.Start();
  std::vector<std::thread> submitters;
  for (std::size_t me = 0; me < kSubmitters; ++me) {
    submitters.emplace_back([&, me] {
      for (std::size_t k = 0; k < kEach; ++k) {
        for (std::size_t s = 0; s < lines.size(); ++s) {
          Line& line = lines[s];
          EXPECT_TRUE(Leave(*strands[s], [&, me, k] {
            two_at_a_time = two_at_a_time || line.inside.exchange(true);
            out_of_order = out_of_order || line.next[me] != k;
            ++line.next[me];
            ++line.ran;
            line.inside = false;
            ++all;
          }));
        }
      }
    });
  }
  for (std::thread& submitter : submitters) {
    submitter.join();
  }
  ASSERT_TRUE(Await([&] { return all == lines.size() * kSubmitters * kEach; }));
  pool.Stop();
  EXPECT_FALSE(two_at_a_time);
  EXPECT_FALSE(out_of_order);
  for (const Line& line : lines) {
    EXPECT_EQ(line.ran, kSubmitters * kEach);
  }
}

TEST(StrandTest, DifferentStrandsRunAtTheSameTime) {
  Gate gate;
  TaskPool pool(Threads(2));
  Strand one(pool, Priority::kNormal, kMany);
  Strand two(pool, Priority::kNormal, kMany);
  const OpensAtEnd opens(gate);
  pool.Start();
  ASSERT_TRUE(Leave(one, [&] { gate.Pass(); }));
  ASSERT_TRUE(Leave(two, [&] { gate.Pass(); }));
  EXPECT_TRUE(gate.AwaitArrivals(2));
}

TEST(StrandTest, WhatWaitsTakesNoThread) {
  Gate gate;
  Notes notes;
  TaskPool pool(Threads(2));
  Strand strand(pool, Priority::kNormal, kMany);
  const OpensAtEnd opens(gate);
  pool.Start();
  ASSERT_TRUE(Leave(strand, [&] { gate.Pass(); }));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(Leave(strand, notes.Work("strand")));
  }
  ASSERT_TRUE(Leave(pool, notes.Work("other")));
  ASSERT_TRUE(notes.AwaitNames(1)) << "the second thread is free";
  EXPECT_EQ(notes.Names(), Names{"other"});
  gate.Open();
  EXPECT_TRUE(notes.AwaitNames(11));
}

TEST(StrandTest, TakesOnePlaceInThePool) {
  Notes notes;
  HeldPool pool(Threads(1, 2));
  Strand strand(pool, Priority::kNormal, kMany);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Leave(strand, notes.Work("strand")));
  }
  EXPECT_EQ(pool.Figures().queued, 1U);
  ASSERT_TRUE(Leave(pool, notes.Work("other")));
  pool.Release();
  EXPECT_TRUE(notes.AwaitNames(6));
}

TEST(StrandTest, OthersComeBetween) {
  Notes notes;
  HeldPool pool(Threads(1));
  Strand a(pool, Priority::kNormal, kMany);
  Strand b(pool, Priority::kNormal, kMany);
  for (const char* name : {"a1", "a2", "a3"}) {
    ASSERT_TRUE(Leave(a, notes.Work(name)));
  }
  for (const char* name : {"b1", "b2"}) {
    ASSERT_TRUE(Leave(b, notes.Work(name)));
  }
  ASSERT_TRUE(Leave(pool, notes.Work("other")));
  pool.Release();
  ASSERT_TRUE(notes.AwaitNames(6));
  EXPECT_EQ(notes.Names(), (Names{"a1", "b1", "other", "a2", "b2", "a3"}));
}

TEST(StrandTest, HasItsPriority) {
  Notes notes;
  HeldPool pool(Threads(1));
  Strand low(pool, Priority::kLow, kMany);
  Strand high(pool, Priority::kHigh, kMany);
  ASSERT_TRUE(Leave(low, notes.Work("low")));
  ASSERT_TRUE(Leave(pool, notes.Work("normal")));
  ASSERT_TRUE(Leave(high, notes.Work("high")));
  pool.Release();
  ASSERT_TRUE(notes.AwaitNames(3));
  EXPECT_EQ(notes.Names(), (Names{"high", "normal", "low"}));
}

TEST(StrandTest, WhereThePoolIsFullItGoesOn) {
  Gate gate;
  Notes notes;
  TaskPool pool(Threads(1, 1));
  Strand strand(pool, Priority::kNormal, kMany);
  const OpensAtEnd opens(gate);
  pool.Start();
  ASSERT_TRUE(Leave(strand, [&] { gate.Pass(); }));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  ASSERT_TRUE(Leave(strand, notes.Work("a2")));
  ASSERT_TRUE(Leave(strand, notes.Work("a3")));
  ASSERT_TRUE(Leave(pool, notes.Work("other"))) << "takes the only place";
  gate.Open();
  ASSERT_TRUE(notes.AwaitNames(3));
  EXPECT_EQ(notes.Names(), (Names{"a2", "a3", "other"}));
}

TEST(StrandTest, TakesNoMoreThanItMay) {
  Gate gate;
  Notes notes;
  TaskPool pool(Threads(1));
  Strand strand(pool, Priority::kNormal, 2);
  const OpensAtEnd opens(gate);
  pool.Start();
  ASSERT_TRUE(Leave(strand, [&] { gate.Pass(); }));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  ASSERT_TRUE(Leave(strand, notes.Work("a2")));
  ASSERT_TRUE(Leave(strand, notes.Work("a3")));
  EXPECT_EQ(strand.Submit(notes.Work("a4")), SubmitResult::kFull);
  gate.Open();
  ASSERT_TRUE(notes.AwaitNames(2));
  ASSERT_TRUE(Leave(strand, notes.Work("a5")));
  ASSERT_TRUE(notes.AwaitNames(3));
  EXPECT_EQ(notes.Names(), (Names{"a2", "a3", "a5"}));
}

TEST(StrandTest, IsRefusedByAFullPoolAndComesAgain) {
  Notes notes;
  HeldPool pool(Threads(1, 1));
  Strand strand(pool, Priority::kNormal, kMany);
  ASSERT_TRUE(Leave(pool, notes.Work("other")));
  EXPECT_EQ(strand.Submit(notes.Work("refused")), SubmitResult::kFull);
  pool.Release();
  ASSERT_TRUE(notes.AwaitNames(1));
  ASSERT_TRUE(Leave(strand, notes.Work("a")));
  ASSERT_TRUE(notes.AwaitNames(2));
  EXPECT_EQ(notes.Names(), (Names{"other", "a"}));
}

TEST(StrandTest, WhatThrowsIsLoggedAndTheNextIsRun) {
  Notes notes;
  HeldPool pool(Threads(1));
  Strand strand(pool, Priority::kNormal, kMany);
  ASSERT_TRUE(Leave(strand, [] { throw std::runtime_error("no more paper"); }));
  ASSERT_TRUE(Leave(strand, notes.Work("next")));
  const test::CapturedStderr captured;
  pool.Release();
  ASSERT_TRUE(notes.AwaitNames(1));
  pool.Stop();
  EXPECT_NE(captured.Text().find("no more paper"), std::string::npos) << captured.Text();
}

TEST(StrandTest, WorkMayLeaveMore) {
  Notes notes;
  HeldPool pool(Threads(2));
  Strand strand(pool, Priority::kNormal, kMany);
  ASSERT_TRUE(Leave(strand, [&] {
    notes.Write("first");
    EXPECT_TRUE(Leave(strand, notes.Work("third")));
  }));
  ASSERT_TRUE(Leave(strand, notes.Work("second")));
  pool.Release();
  ASSERT_TRUE(notes.AwaitNames(3));
  EXPECT_EQ(notes.Names(), (Names{"first", "second", "third"}));
}

TEST(StrandTest, MayGoWhileItsWorkWaits) {
  Notes notes;
  HeldPool pool(Threads(1));
  {
    Strand strand(pool, Priority::kNormal, kMany);
    for (const char* name : {"a1", "a2", "a3"}) {
      ASSERT_TRUE(Leave(strand, notes.Work(name)));
    }
  }
  pool.Release();
  ASSERT_TRUE(notes.AwaitNames(3));
  EXPECT_EQ(notes.Names(), (Names{"a1", "a2", "a3"}));
}

TEST(StrandTest, WhatAStoppedPoolDoesNotRunIsDestroyed) {
  Gate gate;
  Notes notes;
  const auto held = std::make_shared<int>(0);
  TaskPool pool(Threads(1));
  Strand runs(pool, Priority::kNormal, kMany);
  Strand waits(pool, Priority::kNormal, kMany);
  const OpensAtEnd opens(gate);
  pool.Start();
  ASSERT_TRUE(Leave(runs, [&, held] {
    gate.Pass();
    notes.Write("began before the end");
  }));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  ASSERT_TRUE(Leave(runs, [&, held] { notes.Write("behind it"); }));
  ASSERT_TRUE(Leave(waits, [&, held] { notes.Write("not begun"); }));
  std::thread stops([&] { pool.Stop(); });
  const auto nothing = [] { return MakeTask([](const PoolTask&) {}); };
  EXPECT_TRUE(Await([&] { return pool.Submit(nothing(), {}) == SubmitResult::kStopped; }));
  gate.Open();
  stops.join();
  EXPECT_EQ(notes.Names(), Names{"began before the end"});
  EXPECT_EQ(held.use_count(), 1) << "something keeps what was not run";
  EXPECT_EQ(runs.Submit(notes.Work("too late")), SubmitResult::kStopped);
  EXPECT_EQ(waits.Submit(notes.Work("too late")), SubmitResult::kStopped);
}

}  // namespace
}  // namespace TURTLE_SERVER
