#include "base/spsc_ring.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "support/client.h"

namespace {

std::atomic<std::size_t> made{0};  // blocks of memory that this program was ever given

}  // namespace

auto operator new(std::size_t size) -> void* {
  void* const memory = std::malloc(size == 0 ? 1 : size);
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

// Can be moved and nothing else.
class Thing {
 public:
  explicit Thing(int number) : number_(number) {}
  Thing(Thing&&) = default;
  auto operator=(Thing&&) -> Thing& = delete;
  [[nodiscard]] auto Number() const -> int { return number_; }

 private:
  int number_;
};

TEST(SpscRing, GivesBackTheOldestFirst) {
  SpscRing<Thing> ring(3);
  EXPECT_FALSE(ring.Pop());
  for (int round = 0; round < 10; ++round) {
    EXPECT_TRUE(ring.Push(Thing(2 * round)));
    EXPECT_TRUE(ring.Push(Thing(2 * round + 1)));
    EXPECT_EQ(ring.Pop()->Number(), 2 * round);
    EXPECT_EQ(ring.Pop()->Number(), 2 * round + 1);
    EXPECT_FALSE(ring.Pop());
  }
}

TEST(SpscRing, HoldsAsManyAsItWasToldAndNoMore) {
  for (const std::size_t capacity : {1U, 2U, 3U, 7U, 64U, 100U}) {
    SpscRing<std::unique_ptr<std::size_t>> ring(capacity);
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < capacity; ++i) {
        EXPECT_TRUE(ring.Push(std::make_unique<std::size_t>(i)));
      }
      auto one_more = std::make_unique<std::size_t>(7);
      EXPECT_FALSE(ring.Push(std::move(one_more))) << capacity;
      ASSERT_NE(one_more, nullptr) << "it is still the caller's";
      for (std::size_t i = 0; i < capacity; ++i) {
        const auto value = ring.Pop();
        ASSERT_TRUE(value);
        EXPECT_EQ(**value, i);
      }
    }
  }
}

TEST(SpscRing, WithoutRoomThereIsNone) {
  try {
    const SpscRing<int> ring(0);
    ADD_FAILURE() << "a ring for nothing";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "a ring needs room for one");
  }
}

TEST(SpscRing, WhatIsTakenLeavesNothingBehind) {
  SpscRing<std::shared_ptr<int>> ring(4);
  auto thing = std::make_shared<int>(7);
  EXPECT_TRUE(ring.Push(std::shared_ptr<int>(thing)));
  EXPECT_EQ(thing.use_count(), 2);
  ring.Pop().reset();
  EXPECT_EQ(thing.use_count(), 1);
}

// Otherwise the client would hear nothing, and its descriptor would never be closed.
TEST(SpscRing, DescriptorsThatNobodyTookAreClosed) {
  const auto next_number = [] { return UniqueFd(::dup(STDERR_FILENO)).Get(); };
  const int before = next_number();
  {
    SpscRing<UniqueFd> ring(8);
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(ring.Push(UniqueFd(::dup(STDERR_FILENO))));
    }
    EXPECT_TRUE(ring.Pop());
    EXPECT_EQ(next_number(), before) << "the one that was taken is closed";
    EXPECT_TRUE(ring.Push(UniqueFd(::dup(STDERR_FILENO))));
  }
  EXPECT_EQ(next_number(), before);
}

TEST(SpscRing, OnlyTheConstructorAllocates) {
  SpscRing<UniqueFd> ring(100);
  const std::size_t before = made;
  for (int round = 0; round < 100; ++round) {
    while (ring.Push(UniqueFd())) {
    }
    for (int i = 0; i < 70; ++i) {
      EXPECT_TRUE(ring.Pop());
    }
  }
  EXPECT_EQ(made, before);
}

// Stands still in the middle of a move, for as long as the test likes.
class Slow {
 public:
  explicit Slow(std::function<void()> on_move = {}) : on_move_(std::move(on_move)) {}
  Slow(Slow&& other) noexcept : on_move_(std::exchange(other.on_move_, {})) {
    if (on_move_) {
      on_move_();
    }
  }
  auto operator=(Slow&&) -> Slow& = delete;

 private:
  std::function<void()> on_move_;
};

// A value that stops at its `number`th move until `go_on` has come.
auto StandsStill(int number, std::promise<void>& stands, const std::shared_future<void>& go_on)
    -> Slow {
  const auto moves = std::make_shared<std::atomic<int>>(0);
  return Slow([=, &stands] {
    if (++*moves == number) {
      stands.set_value();
      go_on.wait_for(test::kPatience);
    }
  });
}

auto Ready(const std::future<bool>& result) -> bool {
  return result.wait_for(test::kPatience / 2) == std::future_status::ready;
}

TEST(SpscRing, WhoPushesDoesNotWaitForOneWhoPops) {
  SpscRing<Slow> ring(4);
  std::promise<void> stands;
  std::promise<void> go_on;
  int number = 1;
  {  // how many moves a Push() takes is not the test's business
    const auto counted = std::make_shared<std::atomic<int>>(0);
    SpscRing<Slow> other(1);
    other.Push(Slow([counted] { ++*counted; }));
    number = *counted + 1;
  }
  EXPECT_TRUE(ring.Push(StandsStill(number, stands, go_on.get_future().share())));
  auto popped = std::async(std::launch::async, [&] { return ring.Pop().has_value(); });
  stands.get_future().wait_for(test::kPatience);
  auto pushed = std::async(std::launch::async, [&] { return ring.Push(Slow()); });
  EXPECT_TRUE(Ready(pushed)) << "it waits for a thread that stands still";
  go_on.set_value();
  EXPECT_TRUE(pushed.get());
  EXPECT_TRUE(popped.get());
}

TEST(SpscRing, WhoPopsDoesNotWaitForOneWhoPushes) {
  SpscRing<Slow> ring(4);
  std::promise<void> stands;
  std::promise<void> go_on;
  EXPECT_TRUE(ring.Push(Slow()));
  Slow slow = StandsStill(1, stands, go_on.get_future().share());
  auto pushed = std::async(std::launch::async, [&] { return ring.Push(std::move(slow)); });
  stands.get_future().wait_for(test::kPatience);
  auto popped = std::async(std::launch::async, [&] { return ring.Pop().has_value(); });
  EXPECT_TRUE(Ready(popped)) << "it waits for a thread that stands still";
  EXPECT_FALSE(ring.Pop()) << "what is not there as a whole can't be taken";
  go_on.set_value();
  EXPECT_TRUE(popped.get());
  EXPECT_TRUE(pushed.get());
  EXPECT_TRUE(ring.Pop());
}

// Writes before a Push() are seen after its Pop(), and a slot is reused only when it is empty.
// ThreadSanitizer sees more of that than a test.
TEST(SpscRing, TwoThreadsLoseNothingAndSeeAllOfIt) {
  for (const std::size_t capacity : {1U, 2U, 5U, 1'000U}) {
    const int things = static_cast<int>(300 * capacity);
    SpscRing<std::unique_ptr<std::pair<int, int>>> ring(capacity);
    std::thread producer([&] {
      for (int i = 0; i < things; ++i) {
        auto thing = std::make_unique<std::pair<int, int>>(i, 0);
        thing->second = ~i;
        while (!ring.Push(std::move(thing))) {
          std::this_thread::yield();
        }
      }
    });
    int wrong = 0;
    for (int i = 0; i < things; ++i) {
      auto thing = ring.Pop();
      while (!thing) {
        std::this_thread::yield();
        thing = ring.Pop();
      }
      wrong += (*thing)->first == i && (*thing)->second == ~i ? 0 : 1;
    }
    producer.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_FALSE(ring.Pop());
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
