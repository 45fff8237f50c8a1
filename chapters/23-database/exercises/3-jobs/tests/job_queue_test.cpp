#include "db/job_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "db/sqlite_database.h"
#include "support/client.h"
#include "support/db_failure.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr JobQueue::TimePoint kNoon{seconds(1'800'000'000)};
constexpr seconds kLease{60};

// Long enough to catch code that reads before it locks; code with the right order is never blamed.
constexpr milliseconds kAWhile{100};

void AwaitStart(const std::atomic<std::size_t>& started, std::size_t count) {
  auto end = std::chrono::steady_clock::now() + test::kPatience;
  while (started < count && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  end = std::chrono::steady_clock::now() + kAWhile;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
}

class JobQueueTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.file = folder_.Path("jobs.db");
    options_.sync = SqliteSync::kNormal;
    if (!test::IsBuiltWith(*SqliteDatabase({}))) {
      GTEST_SKIP() << "built without this database (TURTLE_SQLITE, TURTLE_MARIADB)";
    }
    mine_ = Open();
    other_ = Open();
    queue_.MakeTable(*mine_);
    queue_.MakeTable(*other_);
  }

  [[nodiscard]] auto Open() const -> std::unique_ptr<DbConnection> {
    return SqliteDatabase(options_)->Open();
  }

  auto Put(const std::string& work) -> std::int64_t { return queue_.Put(*mine_, work); }

  auto Take(JobQueue::TimePoint now = kNoon) -> std::optional<Job> {
    return queue_.Take(*mine_, now);
  }

  // Returns the job that can be taken, "" if there is none.
  auto WorkAt(JobQueue::TimePoint now = kNoon) -> std::string {
    const std::optional<Job> job = queue_.Take(*other_, now);
    return job ? job->work : "";
  }

  const test::SiteFolder folder_;
  SqliteOptions options_;
  std::unique_ptr<DbConnection> mine_;
  std::unique_ptr<DbConnection> other_;  // another process's, as it were
  const JobQueue queue_{{kLease, 3}};
};

TEST_F(JobQueueTest, TheOldestFirstAndEachOnce) {
  const std::int64_t id = Put("a");
  Put("b");
  const std::string odd("'); DROP TABLE jobs; --\0\xc3\xa4", 26);
  Put(odd);
  const auto a = Take();
  ASSERT_TRUE(a);
  EXPECT_EQ(a->id, id);
  EXPECT_EQ(a->work, "a");
  EXPECT_EQ(a->attempt, 1);
  EXPECT_EQ(WorkAt(), "b");
  EXPECT_EQ(WorkAt(), odd);
  EXPECT_EQ(WorkAt(), "");
  EXPECT_TRUE(queue_.Finish(*mine_, *a));
  EXPECT_FALSE(queue_.Finish(*mine_, *a)) << "it is done";
  EXPECT_EQ(WorkAt(kNoon + kLease), "b");
}

TEST_F(JobQueueTest, ALeaseEnds) {
  Put("a");
  const auto first = Take();
  ASSERT_TRUE(first);
  EXPECT_EQ(WorkAt(kNoon + kLease - milliseconds(1)), "");
  const auto second = Take(kNoon + kLease);
  ASSERT_TRUE(second) << "its taker may have died";
  EXPECT_EQ(second->id, first->id);
  EXPECT_EQ(second->work, "a");
  EXPECT_EQ(second->attempt, 2);
  EXPECT_EQ(WorkAt(kNoon + kLease + kLease - milliseconds(1)), "") << "a lease of its own";
}

TEST_F(JobQueueTest, WhoComesTooLateIsTold) {
  Put("a");
  const auto late = Take();
  ASSERT_TRUE(late);
  const auto next = queue_.Take(*other_, kNoon + kLease);
  ASSERT_TRUE(next);
  EXPECT_FALSE(queue_.Finish(*mine_, *late));
  EXPECT_FALSE(queue_.Extend(*mine_, *late, kNoon + kLease + kLease));
  EXPECT_FALSE(queue_.GiveBack(*mine_, *late, kNoon));
  EXPECT_EQ(WorkAt(kNoon + kLease), "") << "the job is the next one's still";
  EXPECT_TRUE(queue_.Finish(*other_, *next));
}

TEST_F(JobQueueTest, LateIsNotTooLateAsLongAsNobodyElseHasIt) {
  Put("a");
  const auto job = Take();
  ASSERT_TRUE(job);
  EXPECT_TRUE(queue_.Extend(*mine_, *job, kNoon + 10 * kLease));
  EXPECT_EQ(WorkAt(kNoon + 11 * kLease - milliseconds(1)), "");
  EXPECT_TRUE(queue_.Finish(*mine_, *job)) << "whatever the time is";
  EXPECT_EQ(WorkAt(kNoon + 100 * kLease), "");
}

TEST_F(JobQueueTest, WhatTakesLongIsExtended) {
  Put("a");
  const auto job = Take();
  ASSERT_TRUE(job);
  EXPECT_TRUE(queue_.Extend(*mine_, *job, kNoon + seconds(50)));
  EXPECT_EQ(WorkAt(kNoon + seconds(110) - milliseconds(1)), "");
  const auto next = Take(kNoon + seconds(110));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->attempt, 2) << "to extend is no attempt";
}

TEST_F(JobQueueTest, GivenBackItWaits) {
  Put("a");
  Put("b");
  const auto job = Take();
  ASSERT_TRUE(job);
  EXPECT_TRUE(queue_.GiveBack(*mine_, *job, kNoon + seconds(5)));
  EXPECT_FALSE(queue_.Finish(*mine_, *job)) << "it is nobody's";
  EXPECT_FALSE(queue_.Extend(*mine_, *job, kNoon));
  EXPECT_FALSE(queue_.GiveBack(*mine_, *job, kNoon));
  EXPECT_EQ(WorkAt(kNoon + seconds(5) - milliseconds(1)), "b");
  const auto again = Take(kNoon + seconds(5));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->work, "a");
  EXPECT_EQ(again->attempt, 2);
}

TEST_F(JobQueueTest, NotForEver) {
  Put("kills whoever takes it");
  JobQueue::TimePoint now = kNoon;
  std::optional<Job> last;
  for (int attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_EQ(queue_.Dead(*mine_, now), 0U);
    last = Take(now);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->attempt, attempt);
    now += kLease;
  }
  EXPECT_EQ(queue_.Dead(*mine_, now - milliseconds(1)), 0U) << "somebody has it still";
  EXPECT_EQ(queue_.Dead(*mine_, now), 1U);
  EXPECT_FALSE(Take(now));
  EXPECT_FALSE(Take(now + 1000 * kLease));
  Put("another");
  EXPECT_EQ(WorkAt(now), "another") << "it stands in nobody's way";
  EXPECT_TRUE(queue_.Finish(*mine_, *last)) << "late, but done";
  EXPECT_EQ(queue_.Dead(*mine_, now), 0U);
}

TEST_F(JobQueueTest, GivenBackForTheLastTimeItIsDeadAtOnce) {
  Put("a");
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const auto job = Take();
    ASSERT_TRUE(job);
    EXPECT_TRUE(queue_.GiveBack(*mine_, *job, kNoon));
  }
  EXPECT_EQ(queue_.Dead(*mine_, kNoon), 1U);
  EXPECT_FALSE(Take());
}

// A process that has held the last job of the table for too long must not finish the first of the
// next.
TEST_F(JobQueueTest, NoIdComesTwice) {
  Put("a");
  const auto late = Take();
  ASSERT_TRUE(late);
  const auto next = Take(kNoon + kLease);
  ASSERT_TRUE(next);
  ASSERT_TRUE(queue_.Finish(*mine_, *next));
  const std::int64_t id = Put("b");
  EXPECT_GT(id, late->id);
  const auto b = Take(kNoon + kLease);
  ASSERT_TRUE(b);
  ASSERT_EQ(b->attempt, late->attempt);
  EXPECT_FALSE(queue_.Finish(*mine_, *late));
  EXPECT_TRUE(queue_.Finish(*mine_, *b));
}

TEST_F(JobQueueTest, PutCountsWithTheTransaction) {
  {
    const Transaction transaction(*mine_);
    Put("an order that is taken back");
  }
  EXPECT_EQ(WorkAt(), "");
  Transaction transaction(*mine_);
  Put("an order that counts");
  mine_->Execute("CREATE TABLE orders (id INTEGER PRIMARY KEY) STRICT");
  transaction.Commit();
  EXPECT_EQ(WorkAt(), "an order that counts");
}

TEST_F(JobQueueTest, FinishCountsWithTheTransaction) {
  Put("a");
  const auto job = Take();
  ASSERT_TRUE(job);
  {
    const Transaction transaction(*mine_);
    EXPECT_TRUE(queue_.Finish(*mine_, *job));
  }
  EXPECT_TRUE(queue_.Extend(*mine_, *job, kNoon)) << "it was taken back";
  Transaction transaction(*mine_);
  EXPECT_TRUE(queue_.Finish(*mine_, *job));
  transaction.Commit();
  EXPECT_FALSE(queue_.Extend(*mine_, *job, kNoon));
}

TEST_F(JobQueueTest, SurvivesItsProcess) {
  Put("a");
  Put("b");
  const auto a = Take();
  ASSERT_TRUE(a);
  mine_ = Open();
  other_ = Open();
  const JobQueue anew({kLease, 3});
  anew.MakeTable(*mine_);
  const auto b = anew.Take(*mine_, kNoon);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->work, "b");
  EXPECT_TRUE(anew.Finish(*mine_, *b));
  EXPECT_TRUE(anew.Finish(*mine_, *a));
  EXPECT_EQ(WorkAt(kNoon + kLease), "");
}

TEST_F(JobQueueTest, NoTwoGetTheSame) {
  constexpr std::size_t kJobs = 200;
  constexpr std::size_t kThreads = 4;
  options_.busy = seconds(60);
  options_.timeout = seconds(60);
  {
    Transaction transaction(*mine_);
    for (std::size_t i = 0; i < kJobs; ++i) {
      Put(std::to_string(i));
    }
    transaction.Commit();
  }
  std::mutex mutex;
  std::map<std::string, int> taken;
  std::atomic<std::size_t> started{0};
  std::vector<std::string> errors(kThreads);
  std::vector<std::thread> threads;
  {
    const Transaction somebody_writes(*mine_);
    for (std::string& error : errors) {
      threads.emplace_back([&] {
        try {
          const auto connection = Open();
          ++started;
          while (const auto job = queue_.Take(*connection, kNoon)) {
            const bool finished = queue_.Finish(*connection, *job);
            const std::lock_guard lock(mutex);
            taken[job->work] += finished ? 1 : 1000;
          }
        } catch (const std::exception& thrown) {
          ++started;
          error = thrown.what();
        }
      });
    }
    AwaitStart(started, kThreads);  // all start together when it ends
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(errors, std::vector<std::string>(kThreads));
  EXPECT_EQ(taken.size(), kJobs);
  for (const auto& [work, times] : taken) {
    EXPECT_EQ(times, 1) << work;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
