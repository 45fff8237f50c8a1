// Threads that run the tasks they are given.
#include "task/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/captured_stderr.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  constexpr int kSubmitters = 4;
  constexpr int kTasks = 500;
  std::vector<std::atomic<int>> ran(kSubmitters * kTasks);
  ThreadPool pool(3);
  pool.Start();
  std::vector<std::thread> submitters;
  for (int first = 0; first < kSubmitters; ++first) {
    submitters.emplace_back([&, first] {
      for (int i = 0; i < kTasks; ++i) {
        std::atomic<int>& count = ran[static_cast<std::size_t>(first * kTasks + i)];
        EXPECT_TRUE(pool.Submit([&count] { ++count; }));
      }
    });
  }
  for (std::thread& submitter : submitters) {
    submitter.join();
  }
  pool.Stop();
  EXPECT_TRUE(std::all_of(ran.begin(), ran.end(), [](const auto& count) { return count == 1; }));
}

// Tasks that wait for each other need a thread each.
TEST(ThreadPool, HasAsManyThreadsAsItWasTold) {
  constexpr int kThreads = 4;
  std::mutex mutex;
  std::condition_variable changed;
  int present = 0;
  int met_all = 0;
  ThreadPool pool(kThreads);
  pool.Start();
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_TRUE(pool.Submit([&] {
      std::unique_lock lock(mutex);
      ++present;
      changed.notify_all();
      met_all += changed.wait_for(lock, test::kPatience, [&] { return present == kThreads; });
    }));
  }
  pool.Stop();
  EXPECT_EQ(met_all, kThreads);
}

TEST(ThreadPool, OneThreadKeepsTheOrder) {
  std::vector<int> order;
  ThreadPool pool(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(pool.Submit([&order, i] { order.push_back(i); })) << "before Start() already";
  }
  pool.Start();
  pool.Stop();
  ASSERT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ThreadPool, ATaskWakesAThreadThatSleeps) {
  ThreadPool pool(2);
  pool.Start();
  for (int i = 0; i < 50; ++i) {  // most of the time, both have fallen asleep again
    std::promise<void> ran;
    auto done = ran.get_future();
    ASSERT_TRUE(pool.Submit([&] { ran.set_value(); }));
    done.wait_for(test::kPatience);
    if (done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      pool.Stop();  // runs it, so that `ran` may go
      FAIL() << "nobody has woken up for task " << i;
    }
  }
}

// The constructor's caller may still be making objects that the tasks use.
TEST(ThreadPool, NothingRunsBeforeStart) {
  std::thread::id thread;
  std::promise<void> ran;
  auto done = ran.get_future();
  ThreadPool pool(1);
  ASSERT_TRUE(pool.Submit([&] {
    thread = std::this_thread::get_id();
    ran.set_value();
  }));
  EXPECT_EQ(done.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  pool.Start();
  ASSERT_EQ(done.wait_for(test::kPatience), std::future_status::ready);
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(ThreadPool, StopRunsWhatWasAcceptedAndRefusesTheRest) {
  std::promise<void> go_on;
  std::shared_future<void> gone_on = go_on.get_future().share();
  std::atomic<int> ran{0};
  ThreadPool pool(1);
  pool.Start();
  ASSERT_TRUE(pool.Submit([&] { gone_on.wait_for(test::kPatience); }));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(pool.Submit([&] { ++ran; }));
  }
  std::thread stopper([&] { pool.Stop(); });
  go_on.set_value();
  stopper.join();
  EXPECT_EQ(ran, 10);

  const auto witness = std::make_shared<int>(0);
  EXPECT_FALSE(pool.Submit([witness] { ++*witness; }));
  EXPECT_EQ(witness.use_count(), 1) << "what it holds is let go";
  pool.Stop();
  EXPECT_EQ(*witness, 0);
}

TEST(ThreadPool, WithoutStartStopDestroysTheTasks) {
  const auto witness = std::make_shared<int>(0);
  ThreadPool pool(1);
  ASSERT_TRUE(pool.Submit([witness] { ++*witness; }));
  pool.Stop();
  EXPECT_EQ(*witness, 0) << "it has run";
  EXPECT_EQ(witness.use_count(), 1) << "what it holds is let go";
}

// An object that a task holds may submit another task in its destructor. The pool refuses it.
TEST(ThreadPool, AStoppedPoolDestroysTasksOutsideItsLock) {
  bool refused = false;
  ThreadPool pool(1);
  {
    const std::shared_ptr<int> last_words(new int(0), [&](const int* number) {
      delete number;
      refused = !pool.Submit([] {});
    });
    ASSERT_TRUE(pool.Submit([last_words] {}));
  }
  pool.Stop();
  EXPECT_TRUE(refused);
}

TEST(ThreadPool, ItsDestructorStopsIt) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool(2);
    pool.Start();
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(pool.Submit([&] { ++ran; }));
    }
  }
  EXPECT_EQ(ran, 10);
}

TEST(ThreadPool, ATaskMaySubmitAnother) {
  std::promise<void> ran;
  ThreadPool pool(1);
  pool.Start();
  ASSERT_TRUE(pool.Submit([&] { EXPECT_TRUE(pool.Submit([&] { ran.set_value(); })); }));
  EXPECT_EQ(ran.get_future().wait_for(test::kPatience), std::future_status::ready);
}

TEST(ThreadPool, ATaskThatThrowsIsLoggedAndItsThreadGoesOn) {
  const test::CapturedStderr captured;
  int ran = 0;
  ThreadPool pool(1);
  pool.Start();
  ASSERT_TRUE(pool.Submit([] { throw std::runtime_error("no such luck"); }));
  ASSERT_TRUE(pool.Submit([] { throw 42; }));
  ASSERT_TRUE(pool.Submit([&] { ++ran; }));
  pool.Stop();
  EXPECT_EQ(ran, 1);
  EXPECT_NE(captured.Text().find("no such luck"), std::string::npos) << captured.Text();
  EXPECT_NE(captured.Text().find("no std::exception"), std::string::npos) << captured.Text();
}

TEST(ThreadPool, WithoutThreadsItRunsNothingAndEnds) {
  int ran = 0;
  {
    ThreadPool pool(0);
    pool.Start();
    EXPECT_TRUE(pool.Submit([&] { ++ran; }));
  }
  EXPECT_EQ(ran, 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
