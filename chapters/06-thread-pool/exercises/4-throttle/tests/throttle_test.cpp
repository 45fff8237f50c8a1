#include "core/throttle.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/looper.h"
#include "support/captured_stderr.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::LoopThread;

// Long enough for a thread that does not wait to be through; one that waits is never accused.
constexpr milliseconds kAWhile{100};

auto IsReady(const std::future<bool>& posted, milliseconds limit = test::kPatience) -> bool {
  return posted.wait_for(limit) == std::future_status::ready;
}

TEST(Throttle, RunsEachTaskInOrder) {
  LoopThread loop;
  Throttle throttle(loop.Get().GetMailbox(), 3);
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(throttle.Post([&order, i] { order.push_back(i); }));
  }
  loop.Ask([&] {
    ASSERT_EQ(order.size(), 1000U);
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
  });
}

TEST(Throttle, WhoPostsTooMuchWaitsUntilOneHasRun) {
  LoopThread loop;
  Throttle throttle(loop.Get().GetMailbox(), 3);
  std::atomic<int> ran{0};
  std::future<bool> fourth;
  loop.WhileItStandsStill([&] {
    for (int i = 0; i < 3; ++i) {
      auto posted = std::async(std::launch::async, [&] { return throttle.Post([&] { ++ran; }); });
      ASSERT_TRUE(IsReady(posted)) << "there is a place for number " << i;
    }
    fourth = std::async(std::launch::async, [&] { return throttle.Post([&] { ++ran; }); });
    EXPECT_FALSE(IsReady(fourth, kAWhile)) << "a fourth waits, with a limit of three";
  });
  ASSERT_TRUE(IsReady(fourth));
  EXPECT_TRUE(fourth.get());
  EXPECT_TRUE(loop.Await([&] { return ran == 4; }));
}

TEST(Throttle, ManyThreadsGetAllTheirTasksRun) {
  LoopThread loop;
  Throttle throttle(loop.Get().GetMailbox(), 2);
  std::atomic<int> ran{0};
  std::vector<std::thread> posters;
  for (int i = 0; i < 8; ++i) {
    posters.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        EXPECT_TRUE(throttle.Post([&] { ++ran; }));
      }
    });
  }
  for (std::thread& poster : posters) {
    poster.join();
  }
  EXPECT_TRUE(loop.Await([&] { return ran == 4000; }));
}

TEST(Throttle, ATaskThatThrowsGivesItsPlaceBack) {
  const test::CapturedStderr silence;  // the loop reports it
  LoopThread loop;
  Throttle throttle(loop.Get().GetMailbox(), 1);
  for (int i = 0; i < 3; ++i) {
    auto posted = std::async(std::launch::async, [&] {
      return throttle.Post([] { throw std::runtime_error("thrown by a task"); });
    });
    ASSERT_TRUE(IsReady(posted)) << i;
    EXPECT_TRUE(posted.get());
  }
}

TEST(Throttle, ItMayGoBeforeItsTasks) {
  LoopThread loop;
  std::atomic<bool> ran{false};
  loop.WhileItStandsStill([&] {
    Throttle throttle(loop.Get().GetMailbox(), 1);
    EXPECT_TRUE(throttle.Post([&] { ran = true; }));
  });
  EXPECT_TRUE(loop.Await([&] { return ran.load(); }));
}

TEST(Throttle, ALoopThatHasEndedSaysNoAtOnce) {
  std::optional<LoopThread> loop(std::in_place);
  Throttle throttle(loop->Get().GetMailbox(), 1);
  loop.reset();
  EXPECT_FALSE(throttle.Post([] { ADD_FAILURE() << "nobody runs this"; }));
  EXPECT_FALSE(throttle.Post([] { ADD_FAILURE() << "nobody runs this"; }));
}

TEST(Throttle, WhoWaitsIsToldOfTheEnd) {
  auto loop = std::make_unique<Looper>();
  Throttle throttle(loop->GetMailbox(), 1);
  ASSERT_TRUE(throttle.Post([] {}));
  auto second = std::async(std::launch::async, [&] { return throttle.Post([] {}); });
  EXPECT_FALSE(IsReady(second, kAWhile));
  loop.reset();  // it never ran
  ASSERT_TRUE(IsReady(second));
  EXPECT_FALSE(second.get());
}

}  // namespace
}  // namespace TURTLE_SERVER
