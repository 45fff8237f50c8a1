#include "task/retry_advice.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RetryAdvice::TimePoint kStart{hours(1)};

// Returns the advice for `times` clients that come one after the other.
auto Told(RetryAdvice& advice, std::size_t queued, RetryAdvice::TimePoint now, int times)
    -> std::vector<int> {
  std::vector<int> told;
  for (int i = 0; i < times; ++i) {
    told.push_back(static_cast<int>(advice.Next(queued, now).count()));
  }
  return told;
}

TEST(RetryAdviceTest, TheFirstComesWhenThoseWhoWaitHaveRun) {
  for (const auto& [queued, told] : {std::pair{4U, 1}, {5U, 2}, {8U, 2}, {9U, 3}, {400U, 100}}) {
    RetryAdvice advice(2, milliseconds(500), seconds(1000));
    EXPECT_EQ(advice.Next(queued, kStart), seconds(told)) << queued;
  }
}

TEST(RetryAdviceTest, AtLeastOneSecond) {
  RetryAdvice advice(2, milliseconds(500), seconds(1000));
  EXPECT_EQ(advice.Next(0, kStart), seconds(1));
}

TEST(RetryAdviceTest, EachTurnIsGivenOnce) {
  RetryAdvice advice(2, milliseconds(500), seconds(1000));  // a turn each quarter of a second
  EXPECT_EQ(Told(advice, 8, kStart, 10), (std::vector<int>{2, 3, 3, 3, 3, 4, 4, 4, 4, 5}));
}

TEST(RetryAdviceTest, TurnsThatHavePassedAreNotGiven) {
  RetryAdvice advice(1, milliseconds(1000), seconds(1000));
  EXPECT_EQ(Told(advice, 2, kStart, 3), (std::vector<int>{2, 3, 4}));
  // The next free turn is at 5.
  EXPECT_EQ(Told(advice, 2, kStart + seconds(1), 2), (std::vector<int>{4, 5}));
  EXPECT_EQ(Told(advice, 2, kStart + milliseconds(1500), 1), (std::vector<int>{6}));
  // Before 102 the waiting tasks have not run.
  EXPECT_EQ(Told(advice, 2, kStart + seconds(100), 2), (std::vector<int>{2, 3}));
  EXPECT_EQ(Told(advice, 50, kStart + seconds(100), 2), (std::vector<int>{50, 51}));
}

TEST(RetryAdviceTest, WhoIsToldTheMostGetsNoTurn) {
  RetryAdvice advice(1, milliseconds(1000), seconds(3));
  EXPECT_EQ(Told(advice, 0, kStart, 4), (std::vector<int>{1, 1, 2, 3}));
  EXPECT_EQ(Told(advice, 0, kStart, 1000), std::vector<int>(1000, 3));
  EXPECT_EQ(Told(advice, 0, kStart + seconds(2), 2), (std::vector<int>{2, 3})) << "at 4 and 5";

  RetryAdvice fresh(1, milliseconds(1000), seconds(3));
  EXPECT_EQ(fresh.Next(1'000'000, kStart), seconds(3));
  EXPECT_EQ(fresh.Next(0, kStart), seconds(1));
}

TEST(RetryAdviceTest, ThreadsGetNoTurnTwice) {
  constexpr int kThreads = 4;
  constexpr int kEach = 100'000;
  RetryAdvice advice(4, milliseconds(40), seconds(1'000'000));  // a hundred turns a second
  std::mutex mutex;
  std::map<int, int> told;
  std::atomic<int> started{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ++started;
      while (started < kThreads) {
        std::this_thread::yield();
      }
      const std::vector<int> mine = Told(advice, 0, kStart, kEach);
      const std::lock_guard lock(mutex);
      for (const int each : mine) {
        ++told[each];
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::map<int, int> expected;
  for (int i = 0; i < kThreads * kEach; ++i) {
    ++expected[i == 0 ? 1 : (i + 99) / 100];
  }
  EXPECT_TRUE(told == expected) << "a turn was given twice, or to nobody";
}

TEST(RetryAdviceTest, Refusals) {
  const auto refusal = [](std::size_t threads, int task, int most) -> std::string {
    try {
      const RetryAdvice advice(threads, milliseconds(task), seconds(most));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(0, 1, 1), "0 threads: at least 1");
  EXPECT_EQ(refusal(1, 0, 1), "a task of 0 ms: at least 1");
  EXPECT_EQ(refusal(1, -5, 1), "a task of -5 ms: at least 1");
  EXPECT_EQ(refusal(1, 1, 0), "0 s at most: at least 1");
  EXPECT_EQ(refusal(1, 1, 1), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
