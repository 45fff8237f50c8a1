#include "core/mailbox.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "support/client.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

void RunAll(const std::vector<Task>& tasks) {
  for (const Task& task : tasks) {
    task();
  }
}

auto IsAwake(Mailbox& mailbox) -> bool {
  pollfd waiting{mailbox.GetWakeup().Fd(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

TEST(Mailbox, GivesTheTasksInTheOrderOfThePosts) {
  Mailbox mailbox;
  std::vector<int> ran;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(mailbox.Post([&ran, i] { ran.push_back(i); }));
  }
  RunAll(mailbox.TakeAll());
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(mailbox.TakeAll().empty());
}

TEST(Mailbox, WakesTheLoopUntilTheTasksAreTaken) {
  Mailbox mailbox;
  EXPECT_FALSE(IsAwake(mailbox));
  ASSERT_TRUE(mailbox.Post([] {}));
  ASSERT_TRUE(mailbox.Post([] {}));
  EXPECT_TRUE(IsAwake(mailbox));
  EXPECT_EQ(mailbox.TakeAll().size(), 2U);
  EXPECT_FALSE(IsAwake(mailbox));
  ASSERT_TRUE(mailbox.Post([] {}));
  EXPECT_TRUE(IsAwake(mailbox)) << "the next post wakes it again";
}

TEST(Mailbox, ATaskMayPost) {
  Mailbox mailbox;
  int ran = 0;
  ASSERT_TRUE(mailbox.Post([&] { EXPECT_TRUE(mailbox.Post([&ran] { ++ran; })); }));
  RunAll(mailbox.TakeAll());
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(IsAwake(mailbox));
  RunAll(mailbox.TakeAll());
  EXPECT_EQ(ran, 1);
}

TEST(Mailbox, CloseGivesBackWhatWasAcceptedAndRefusesTheRest) {
  Mailbox mailbox;
  const auto witness = std::make_shared<int>(0);
  ASSERT_TRUE(mailbox.Post([witness] { ++*witness; }));
  RunAll(mailbox.Close());
  EXPECT_EQ(*witness, 1);
  EXPECT_FALSE(mailbox.Post([witness] { ++*witness; }));
  EXPECT_TRUE(mailbox.TakeAll().empty());
  EXPECT_TRUE(mailbox.Close().empty());
  EXPECT_EQ(witness.use_count(), 1) << "a refused task is destroyed, with what it holds";
}

// The lost wake-up: a loop that sleeps although a task is there waits forever.
TEST(Mailbox, LosesNoTaskAndNoWakeup) {
  constexpr int kThreads = 4;
  constexpr int kPosts = 2000;
  Mailbox mailbox;
  std::vector<std::vector<int>> ran(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kPosts; ++i) {
        ASSERT_TRUE(mailbox.Post([&ran, thread, i] { ran[thread].push_back(i); }));
      }
    });
  }
  for (std::size_t taken = 0; taken < std::size_t{kThreads} * kPosts;) {
    ASSERT_TRUE(test::AwaitReady(mailbox.GetWakeup().Fd(), POLLIN)) << "it sleeps with a task left";
    const std::vector<Task> tasks = mailbox.TakeAll();
    RunAll(tasks);
    taken += tasks.size();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::vector<int>& order : ran) {
    ASSERT_EQ(order.size(), std::size_t{kPosts});
    for (int i = 0; i < kPosts; ++i) {
      EXPECT_EQ(order[i], i);
    }
  }
}

// Every post is either run or refused, never both, never neither.
TEST(Mailbox, WhenItClosesEveryPostIsEitherRunOrRefused) {
  Mailbox mailbox;
  std::atomic<int> accepted{0};
  std::atomic<bool> began{false};
  int ran = 0;
  std::thread poster([&] {
    while (mailbox.Post([&ran] { ++ran; })) {
      ++accepted;
      began = true;
    }
  });
  while (!began) {
    std::this_thread::yield();
  }
  RunAll(mailbox.TakeAll());
  RunAll(mailbox.Close());
  poster.join();
  EXPECT_EQ(ran, accepted);
}

}  // namespace
}  // namespace TURTLE_SERVER
