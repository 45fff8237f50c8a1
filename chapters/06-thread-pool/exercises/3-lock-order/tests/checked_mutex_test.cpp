#include "base/checked_mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <future>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using Mutexes = std::initializer_list<CheckedMutex*>;

// Takes them one after the other, and releases those that it got.
// @return why one was refused; "" when none was.
auto Take(Mutexes mutexes) -> std::string {
  std::vector<CheckedMutex*> held;
  std::string error;
  try {
    for (CheckedMutex* mutex : mutexes) {
      mutex->Lock();
      held.push_back(mutex);
    }
  } catch (const std::exception& refused) {
    error = refused.what();
  }
  for (CheckedMutex* mutex : held) {
    mutex->Unlock();
  }
  return error;
}

// The same on another thread.
auto TakeElsewhere(Mutexes mutexes) -> std::string {
  return std::async(std::launch::async, [=] { return Take(mutexes); }).get();
}

TEST(CheckedMutex, TheOtherWayRoundIsRefused) {
  CheckedMutex a("a");
  CheckedMutex b("b");
  EXPECT_EQ(Take({&a, &b}), "");
  EXPECT_EQ(Take({&a, &b}), "");
  EXPECT_EQ(Take({&b, &a}), "\"a\" while \"b\" is held, but elsewhere a, b");
  EXPECT_EQ(Take({&a, &b}), "") << "nothing was taken, and nothing remembered";
  EXPECT_EQ(Take({&b}), "");
}

TEST(CheckedMutex, AlsoWhereAnotherThreadHasDoneIt) {
  CheckedMutex a("a");
  CheckedMutex b("b");
  EXPECT_EQ(TakeElsewhere({&a, &b}), "");
  EXPECT_EQ(TakeElsewhere({&b, &a}), "\"a\" while \"b\" is held, but elsewhere a, b");
}

TEST(CheckedMutex, OneAfterTheOtherIsNoOrder) {
  CheckedMutex a("a");
  CheckedMutex b("b");
  EXPECT_EQ(Take({&a}), "");
  EXPECT_EQ(Take({&b}), "");
  EXPECT_EQ(Take({&b, &a}), "");
}

// Three threads can wait in a circle although no two of them share both locks.
TEST(CheckedMutex, ALongWayRoundIsRefusedToo) {
  CheckedMutex a("a");
  CheckedMutex b("b");
  CheckedMutex c("c");
  CheckedMutex d("d");
  EXPECT_EQ(Take({&a, &b}), "");
  EXPECT_EQ(Take({&b, &c}), "");
  EXPECT_EQ(Take({&c, &d}), "");
  EXPECT_EQ(Take({&a, &d}), "");
  EXPECT_EQ(Take({&d, &b}), "\"b\" while \"d\" is held, but elsewhere b, c, d");
  EXPECT_EQ(Take({&c, &a}), "\"a\" while \"c\" is held, but elsewhere a, b, c");
  EXPECT_EQ(Take({&b, &d}), "");
}

TEST(CheckedMutex, EveryoneThatIsHeldComesBefore) {
  CheckedMutex a("a");
  CheckedMutex b("b");
  CheckedMutex c("c");
  a.Lock();
  b.Lock();
  a.Unlock();
  c.Lock();  // while only b is held
  b.Unlock();
  c.Unlock();
  EXPECT_EQ(Take({&a, &c}), "") << "as it was from a to b, and from b to c";
  CheckedMutex x("x");
  CheckedMutex y("y");
  CheckedMutex z("z");
  EXPECT_EQ(Take({&x, &y, &z}), "");
  EXPECT_EQ(Take({&z, &y}), "\"y\" while \"z\" is held, but elsewhere y, z");
  EXPECT_EQ(Take({&z, &a}), "") << "those have nothing to do with each other";
  EXPECT_EQ(Take({&c, &z}), "\"z\" while \"c\" is held, but elsewhere z, a, c")
      << "and now they have";
}

TEST(CheckedMutex, WhatOneHoldsOneCannotTakeAgain) {
  CheckedMutex a("a");
  CheckedMutex b("b");
  EXPECT_EQ(Take({&a, &b, &a}), "\"a\" is held already");
  EXPECT_EQ(Take({&b, &b}), "\"b\" is held already");
}

TEST(CheckedMutex, ATryIsNeverWrongButWhatItTookIsHeld) {
  CheckedMutex a("a");
  CheckedMutex b("b");
  EXPECT_EQ(Take({&a, &b}), "");
  b.Lock();
  EXPECT_TRUE(a.TryLock());
  a.Unlock();
  b.Unlock();
  EXPECT_EQ(Take({&a, &b}), "") << "a try makes no order";
  EXPECT_TRUE(b.TryLock());
  EXPECT_EQ(Take({&a}), "\"a\" while \"b\" is held, but elsewhere a, b");
  EXPECT_FALSE(std::async(std::launch::async, [&] { return b.TryLock(); }).get());
  EXPECT_FALSE(b.TryLock());
  EXPECT_EQ(TakeElsewhere({&a}), "");
  b.Unlock();
}

TEST(CheckedMutex, OneThatHasGoneIsForgotten) {
  CheckedMutex a("a");
  CheckedMutex c("c");
  std::optional<CheckedMutex> b;
  b.emplace("b");
  EXPECT_EQ(Take({&a, &*b}), "");
  EXPECT_EQ(Take({&*b, &c}), "");
  EXPECT_NE(Take({&c, &a}), "");
  b.emplace("another at the same address");
  EXPECT_EQ(Take({&*b, &a}), "");
  b.reset();
  EXPECT_EQ(Take({&c, &a}), "") << "the way from a to c led over b";
}

// Each holds the lock that the other needs. The second is refused, and the first continues.
TEST(CheckedMutex, TwoWhoWouldWaitForEachOtherDoNot) {
  for (int round = 0; round < 200; ++round) {
    CheckedMutex a("a");
    CheckedMutex b("b");
    std::atomic<int> holding{0};
    std::atomic<int> refused{0};
    const auto take = [&](CheckedMutex& first, CheckedMutex& second) {
      first.Lock();
      ++holding;
      while (holding != 2) {
        std::this_thread::yield();
      }
      try {
        second.Lock();
        second.Unlock();
      } catch (const std::logic_error&) {
        ++refused;
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
      first.Unlock();
    };
    std::thread other([&] { take(b, a); });
    take(a, b);
    other.join();
    ASSERT_EQ(refused, 1);
  }
}

TEST(CheckedMutex, ItIsAMutex) {
  CheckedMutex outer("outer");
  CheckedMutex inner("inner");
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1'000; ++k) {
        outer.Lock();
        inner.Lock();
        ++count;
        outer.Unlock();
        inner.Unlock();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(count, 4'000);
}

}  // namespace
}  // namespace TURTLE_SERVER
