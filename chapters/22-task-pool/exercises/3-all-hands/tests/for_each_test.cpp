#include "task/for_each.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "support/failing_new.h"
#include "support/gate.h"
#include "support/held_pool.h"

namespace TURTLE_SERVER {
namespace {

using test::Await;
using test::Gate;
using test::HeldPool;
using test::OpensAtEnd;

// Long enough for a caller that does not wait to be through; one that waits is never accused.
constexpr std::chrono::milliseconds kAWhile{100};

auto Threads(std::size_t threads, std::size_t max_queued = 1024) -> TaskPoolOptions {
  TaskPoolOptions options;
  options.threads = threads;
  options.max_queued = max_queued;
  return options;
}

auto Leave(TaskPool& pool, const std::function<void()>& work) -> bool {
  return pool.Submit(MakeTask([work](const PoolTask&) { work(); }), {}) == SubmitResult::kAccepted;
}

// Returns whether a helper was submitted. Without one, waiting for help would be in vain.
auto AskedForHelp(const TaskPool& pool) -> bool {
  const TaskFigures figures = pool.Figures();
  return figures.queued + figures.running + figures.ran > 0;
}

// Returns the numbers of its calls without any helper.
auto Alone(TaskPool& pool, std::size_t count) -> std::vector<std::size_t> {
  std::vector<std::size_t> numbers;
  ForEach(pool, count, [&](std::size_t i) { numbers.push_back(i); });
  return numbers;
}

TEST(ForEachTest, EachOnceAndSeenByTheCaller) {
  TaskPool pool(Threads(4));
  pool.Start();
  std::vector<int> times(10'000, 0);  // no two threads touch the same of them, and no lock
  ForEach(pool, times.size(), [&](std::size_t i) { ++times[i]; });
  EXPECT_EQ(std::count(times.begin(), times.end(), 1), 10'000);
}

TEST(ForEachTest, AllThreadsTakePartAndTheCaller) {
  TaskPool pool(Threads(3));
  pool.Start();
  std::atomic<int> arrived{0};
  std::atomic<bool> together{true};
  ForEach(pool, 4, [&](std::size_t) {
    ++arrived;
    together = AskedForHelp(pool) && Await([&] { return arrived == 4 || !together; }) && together;
  });
  EXPECT_TRUE(together) << "four have to wait for each other: three threads and the caller";
}

TEST(ForEachTest, WithoutHelpItIsDoneAlone) {
  const std::vector<std::size_t> in_order = {0, 1, 2, 3, 4};
  TaskPool none(Threads(0));
  EXPECT_EQ(Alone(none, 5), in_order);
  TaskPool stopped(Threads(2));
  stopped.Stop();
  EXPECT_EQ(Alone(stopped, 5), in_order);
  HeldPool full(Threads(2, 1));
  ASSERT_TRUE(Leave(full, [] {}));
  EXPECT_EQ(Alone(full, 5), in_order);
  HeldPool busy(Threads(2));
  EXPECT_EQ(Alone(busy, 5), in_order);
  EXPECT_EQ(Alone(busy, 0), std::vector<std::size_t>());
}

TEST(ForEachTest, LeavesNoMoreTasksThanCanHelp) {
  for (const auto& [threads, count, helpers] :
       {std::tuple{8U, 1U, 0U}, {8U, 2U, 1U}, {2U, 100U, 2U}, {8U, 0U, 0U}}) {
    HeldPool pool(Threads(threads));
    std::size_t most = 0;
    ForEach(pool, count, [&](std::size_t) { most = std::max(most, pool.Figures().queued); });
    EXPECT_EQ(most, helpers) << threads << " threads, " << count;
    EXPECT_EQ(pool.Figures().queued, 0U) << "nothing is left";
  }
}

TEST(ForEachTest, DoesNotWaitForThreadsThatDoSomethingElse) {
  Gate gate;
  TaskPool pool(Threads(1));
  const OpensAtEnd opens(gate);
  pool.Start();
  ASSERT_TRUE(Leave(pool, [&] { gate.Pass(); }));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  std::size_t waited = 0;
  std::size_t sum = 0;
  ForEach(pool, 4, [&](std::size_t i) {
    sum += i;
    waited = pool.Figures().queued;
  });
  EXPECT_EQ(sum, 6U);
  EXPECT_EQ(waited, 1U) << "it has asked for help";
  EXPECT_EQ(pool.Figures().queued, 0U) << "and needs it no longer";
}

// All threads of the pool wait for the pool.
TEST(ForEachTest, OneWithinAnother) {
  TaskPool pool(Threads(2));
  pool.Start();
  std::atomic<int> sum{0};
  std::atomic<int> ended{0};
  Gate gate;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Leave(pool, [&] {
      gate.Pass();
      ForEach(pool, 5, [&](std::size_t) {
        ForEach(pool, 5, [&](std::size_t) { ForEach(pool, 5, [&](std::size_t) { ++sum; }); });
      });
      ++ended;
    }));
  }
  const bool both = gate.AwaitArrivals(2);
  gate.Open();
  ASSERT_TRUE(both);
  ASSERT_TRUE(Await([&] { return ended == 2; }));
  EXPECT_EQ(sum, 250);
}

TEST(ForEachTest, WhatIsThrownEndsItAndComesOut) {
  TaskPool pool(Threads(0));
  std::vector<std::size_t> begun;
  try {
    ForEach(pool, 10, [&](std::size_t i) {
      begun.push_back(i);
      if (i == 3) {
        throw std::runtime_error("three");
      }
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "three");
  }
  EXPECT_EQ(begun, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(ForEachTest, WhatAHelperThrowsComesOutToo) {
  TaskPool pool(Threads(2));
  pool.Start();
  const std::thread::id me = std::this_thread::get_id();
  std::atomic<bool> helped{false};
  std::atomic<bool> in_time{true};
  try {
    ForEach(pool, 2, [&](std::size_t) {
      if (std::this_thread::get_id() != me) {
        helped = true;
        throw std::runtime_error("a helper's");
      }
      in_time = AskedForHelp(pool) && Await([&] { return helped.load(); });
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a helper's");
  }
  EXPECT_TRUE(in_time);
}

TEST(ForEachTest, WaitsForThoseThatRunBeforeItThrows) {
  TaskPool pool(Threads(1));
  pool.Start();
  std::atomic<bool> other_runs{false};
  std::atomic<bool> thrown{false};
  std::atomic<bool> returned{false};
  std::atomic<bool> other_ended{false};
  const std::function<void(std::size_t)> body = [&](std::size_t i) {
    if (i == 0) {
      EXPECT_TRUE(AskedForHelp(pool) && Await([&] { return other_runs.load(); }));
      thrown = true;
      throw std::runtime_error("zero");
    }
    other_runs = true;
    EXPECT_TRUE(Await([&] { return thrown.load(); }));
    const auto end = std::chrono::steady_clock::now() + kAWhile;
    while (!returned && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    other_ended = true;
  };
  EXPECT_THROW(ForEach(pool, 2, body), std::runtime_error);
  EXPECT_TRUE(other_ended) << "it has returned while the other still used what is the caller's";
  returned = true;
  pool.Stop();
}

// A helper's thread already has the caller's data.
TEST(ForEachTest, WithoutMemoryFewerHelp) {
  bool failed = true;
  for (std::size_t first = 1; failed; ++first) {
    HeldPool pool(Threads(3));
    std::size_t calls = 0;
    const std::function<void(std::size_t)> body = [&](std::size_t) { ++calls; };
    bool thrown = false;
    test::FailAllocations(first, 1'000'000);
    try {
      ForEach(pool, 10, body);
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    failed = test::StopFailing() != 0;
    EXPECT_EQ(calls, thrown ? 0U : 10U) << "all or none, from allocation " << first << " on";
    EXPECT_EQ(pool.Figures().queued, 0U) << "nothing is left";
  }
}

// A helper may get its thread just when all is done, and the body is gone.
TEST(ForEachTest, WhoComesToHelpTooLateTouchesNothing) {
  TaskPool pool(Threads(4));
  pool.Start();
  std::atomic<std::size_t> calls{0};
  std::size_t expected = 0;
  for (std::size_t round = 0; round < 3000; ++round) {
    const std::size_t count = 1 + round % 5;
    const auto alive = std::make_unique<std::atomic<bool>>(true);
    {
      const std::function<void(std::size_t)> body = [&, is_alive = alive.get()](std::size_t) {
        calls += is_alive->load() ? 1 : 1000;
      };
      ForEach(pool, count, body);
    }
    *alive = false;
    expected += count;
    ASSERT_EQ(calls, expected);
  }
  pool.Stop();
  EXPECT_EQ(calls, expected);
}

}  // namespace
}  // namespace TURTLE_SERVER
