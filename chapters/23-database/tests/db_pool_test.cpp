// Which callers get a connection, and what happens to connections that don't work. The database is
// a toy; the clock is the test's.
#include "db/db_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/client.h"
#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The toy's faults, set by the test, and a record of the calls to it.
struct Toy {
  std::atomic<bool> refuses{false};  // Open() throws
  std::atomic<bool> dead{false};     // Ping() says no
  std::atomic<bool> breaks{false};   // a statement breaks its connection
  std::atomic<int> open{0};
  std::atomic<int> opened{0};
  std::atomic<int> pings{0};
};

class ToyStatement : public DbDriverStatement {
 public:
  ToyStatement(Toy& toy, bool& broken) : toy_(toy), broken_(broken) {}
  [[nodiscard]] auto ParameterCount() const -> std::size_t override { return 0; }
  void Start(const std::vector<DbValue>&) override {
    if (toy_.breaks) {
      broken_ = true;
      throw DbError(DbErrorKind::kUnavailable, "toy", "broken");
    }
  }
  auto Step() -> bool override { return false; }
  [[nodiscard]] auto Columns() const -> const std::vector<std::string>& override {
    return columns_;
  }
  [[nodiscard]] auto Column(std::size_t) const -> DbValue override { return nullptr; }
  [[nodiscard]] auto Outcome() const -> DbOutcome override { return {}; }
  void Reset() noexcept override {}

 private:
  Toy& toy_;
  bool& broken_;
  const std::vector<std::string> columns_;
};

class ToyDriver : public DbDriver {
 public:
  explicit ToyDriver(Toy& toy) : toy_(toy) {
    ++toy_.open;
    ++toy_.opened;
  }
  ~ToyDriver() override { --toy_.open; }
  ToyDriver(const ToyDriver&) = delete;
  auto operator=(const ToyDriver&) -> ToyDriver& = delete;

  [[nodiscard]] auto Dialect() const noexcept -> DbDialect override { return DbDialect::kSqlite; }
  auto Prepare(std::string_view) -> std::unique_ptr<DbDriverStatement> override {
    return std::make_unique<ToyStatement>(toy_, broken_);
  }
  void Begin() override { in_transaction_ = true; }
  void Commit() override { in_transaction_ = false; }
  void Rollback() override {
    in_transaction_ = false;
    if (toy_.breaks) {
      throw DbError(DbErrorKind::kUnavailable, "toy", "broken");
    }
  }
  [[nodiscard]] auto InTransaction() const noexcept -> bool override { return in_transaction_; }
  [[nodiscard]] auto Ping() noexcept -> bool override {
    ++toy_.pings;
    return !toy_.dead;
  }
  [[nodiscard]] auto IsBroken() const noexcept -> bool override { return broken_; }

 private:
  Toy& toy_;
  bool in_transaction_ = false;
  bool broken_ = false;
};

class ToyDatabase : public Database {
 public:
  explicit ToyDatabase(Toy& toy) : toy_(toy) {}
  auto Open() -> std::unique_ptr<DbConnection> override {
    if (toy_.refuses) {
      throw DbError(DbErrorKind::kUnavailable, "toy", "refused");
    }
    return std::make_unique<DbConnection>(std::make_unique<ToyDriver>(toy_));
  }
  [[nodiscard]] auto Name() const -> std::string override { return "toy"; }

 private:
  Toy& toy_;
};

// A lease that is not kept ends with its line. A statement from its connection would outlive it.
template <class Lease, class = void>
constexpr bool kGivesConnection = false;
template <class Lease>
constexpr bool kGivesConnection<Lease, std::void_t<decltype(*std::declval<Lease>())>> = true;
static_assert(kGivesConnection<DbLease&> && kGivesConnection<const DbLease&>);
static_assert(!kGivesConnection<DbLease>, "Transaction transaction(*pool.Acquire())");

class DbPoolTest : public testing::Test {
 protected:
  auto MakePool(std::size_t connections, std::size_t waiting = 10,
                milliseconds acquire_time = seconds(5)) -> std::unique_ptr<DbPool> {
    DbPoolOptions options;
    options.max_connections = connections;
    options.max_waiting = waiting;
    options.acquire_time = acquire_time;
    options.trust_time = seconds(30);
    options.idle_time = seconds(300);
    return std::make_unique<DbPool>(std::make_unique<ToyDatabase>(toy_), options, clock_.Source());
  }

  static auto AwaitWaiting(const DbPool& pool, std::size_t count) -> bool {
    const auto end = std::chrono::steady_clock::now() + test::kPatience;
    while (pool.Stats().waiting != count && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    return pool.Stats().waiting == count;
  }

  static auto KindOf(DbPool& pool) -> std::optional<DbErrorKind> {
    try {
      static_cast<void>(pool.Acquire());
    } catch (const DbError& error) {
      return error.Kind();
    }
    return std::nullopt;
  }

  Toy toy_;
  test::ManualClock clock_;
};

TEST_F(DbPoolTest, AConnectionIsUsedAgain) {
  const auto pool = MakePool(2);
  EXPECT_EQ(toy_.opened, 0) << "none before one is needed";
  const DbConnection* const first = pool->Acquire().operator->();
  EXPECT_EQ(pool->Acquire().operator->(), first);
  EXPECT_EQ(toy_.opened, 1);
  EXPECT_EQ(toy_.pings, 0) << "a moment ago it was alive";
  EXPECT_EQ(pool->Stats().lent, 2U);
  EXPECT_EQ(pool->Stats().idle, 1U);
}

TEST_F(DbPoolTest, WhoComesAboveTheLimitWaits) {
  const auto pool = MakePool(1);
  std::optional<DbLease> lease(pool->Acquire());
  std::future<const DbConnection*> other = std::async(
      std::launch::async, [&]() -> const DbConnection* { return pool->Acquire().operator->(); });
  ASSERT_TRUE(AwaitWaiting(*pool, 1));
  const DbConnection* const connection = &**lease;
  lease.reset();
  EXPECT_EQ(other.get(), connection);
  EXPECT_EQ(toy_.opened, 1);
}

TEST_F(DbPoolTest, FirstComeFirstServed) {
  const auto pool = MakePool(1);
  std::optional<DbLease> lease(pool->Acquire());
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      const DbLease mine = pool->Acquire();
      order.push_back(i);  // one connection: one at a time
    });
    ASSERT_TRUE(AwaitWaiting(*pool, static_cast<std::size_t>(i) + 1));
  }
  lease.reset();
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(DbPoolTest, NobodyWaitsForEver) {
  const auto pool = MakePool(1, 10, milliseconds(1));
  const DbLease lease = pool->Acquire();
  auto other = std::async(std::launch::async, [&] { return KindOf(*pool); });
  ASSERT_TRUE(AwaitWaiting(*pool, 1));
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(other.get(), DbErrorKind::kTimeout);
  EXPECT_EQ(pool->Stats().timeouts, 1U);
  EXPECT_EQ(pool->Stats().waiting, 0U);
}

TEST_F(DbPoolTest, NobodyWaitsBehindACrowd) {
  const auto pool = MakePool(1, 1);
  std::optional<DbLease> lease(pool->Acquire());
  auto other = std::async(std::launch::async, [&] { return KindOf(*pool); });
  ASSERT_TRUE(AwaitWaiting(*pool, 1));
  EXPECT_EQ(KindOf(*pool), DbErrorKind::kBusy);
  EXPECT_EQ(pool->Stats().refused, 1U);
  lease.reset();
  EXPECT_EQ(other.get(), std::nullopt) << "who waited got it";
}

TEST_F(DbPoolTest, WhatWasIdleForLongIsAskedFirst) {
  const auto pool = MakePool(1);
  static_cast<void>(pool->Acquire());
  clock_.Advance(seconds(30));
  static_cast<void>(pool->Acquire());
  EXPECT_EQ(toy_.pings, 1);
  EXPECT_EQ(toy_.opened, 1);
  clock_.Advance(seconds(30));
  toy_.dead = true;
  static_cast<void>(pool->Acquire());
  EXPECT_EQ(toy_.opened, 2) << "replaced";
  EXPECT_EQ(toy_.open, 1) << "and thrown away";
  EXPECT_EQ(pool->Stats().broken, 1U);
}

TEST_F(DbPoolTest, WhereOneHasBrokenNoneIsTrusted) {
  const auto pool = MakePool(3);
  {
    const DbLease one = pool->Acquire();
    const DbLease two = pool->Acquire();
    const DbLease three = pool->Acquire();
  }
  {
    const DbLease held = pool->Acquire();  // was lent when another broke
    {
      const DbLease lease = pool->Acquire();
      toy_.breaks = true;
      EXPECT_THROW(lease->Execute("SELECT 1"), DbError);
      toy_.breaks = false;
    }
    EXPECT_EQ(toy_.open, 2);
    EXPECT_EQ(toy_.pings, 0);
    static_cast<void>(pool->Acquire());
    EXPECT_EQ(toy_.pings, 1) << "had been idle";
  }
  static_cast<void>(pool->Acquire());
  EXPECT_EQ(toy_.pings, 2) << "had been lent";
  static_cast<void>(pool->Acquire());
  EXPECT_EQ(toy_.pings, 2) << "was asked a moment ago";
}

// If the cable is cut, each tested connection takes its whole timeout.
TEST_F(DbPoolTest, WhoComesAsksOneDeadConnectionAndNotAll) {
  const auto pool = MakePool(3);
  {
    const DbLease one = pool->Acquire();
    const DbLease two = pool->Acquire();
    const DbLease three = pool->Acquire();
  }
  toy_.dead = true;
  clock_.Advance(seconds(30));
  static_cast<void>(pool->Acquire());
  EXPECT_EQ(toy_.pings, 1);
  EXPECT_EQ(toy_.opened, 4);
  EXPECT_EQ(toy_.open, 3) << "no more than there may be";
}

TEST_F(DbPoolTest, ADatabaseThatRefusesCostsNoConnection) {
  const auto pool = MakePool(1);
  toy_.refuses = true;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(KindOf(*pool), DbErrorKind::kUnavailable);
  }
  EXPECT_EQ(pool->Stats().in_use, 0U);
  toy_.refuses = false;
  EXPECT_EQ(KindOf(*pool), std::nullopt);
}

TEST_F(DbPoolTest, WhatCannotBeTakenBackIsThrownAway) {
  const auto pool = MakePool(1);
  {
    const DbLease lease = pool->Acquire();
    const Transaction transaction(*lease);
    toy_.breaks = true;
  }
  toy_.breaks = false;
  EXPECT_EQ(toy_.open, 0);
  std::optional<Transaction> forgotten;
  {
    const DbLease lease = pool->Acquire();
    forgotten.emplace(*lease);
    forgotten->Commit();
    EXPECT_FALSE(lease->InTransaction());
  }
  EXPECT_EQ(toy_.open, 1);
}

TEST_F(DbPoolTest, StatementsDoNotOutliveTheLease) {
  const auto pool = MakePool(1);
  std::optional<Statement> statement;
  {
    const DbLease lease = pool->Acquire();
    lease->Execute("SELECT 2");
    statement = lease->Prepare("SELECT 1");
    statement->Execute();
  }
  EXPECT_THROW(statement->Execute(), DbError);
  const DbLease lease = pool->Acquire();
  lease->Execute("SELECT 2");
  EXPECT_EQ(lease->CacheStats().hits, 1U) << "what nobody held is still prepared";
}

TEST_F(DbPoolTest, WhatNobodyNeedsIsClosed) {
  const auto pool = MakePool(2);
  {
    const DbLease one = pool->Acquire();
    const DbLease two = pool->Acquire();
  }
  clock_.Advance(seconds(200));
  static_cast<void>(pool->Acquire());
  EXPECT_EQ(toy_.open, 2);
  clock_.Advance(seconds(100));
  static_cast<void>(pool->Acquire());
  EXPECT_EQ(toy_.open, 1) << "the other one was used since";
  EXPECT_EQ(pool->Stats().closed, 1U);
}

TEST_F(DbPoolTest, ALeaseMayBeHandedOn) {
  const auto pool = MakePool(1);
  DbLease lease = pool->Acquire();
  const DbLease moved(std::move(lease));
  moved->Execute("SELECT 1");
  EXPECT_EQ(pool->Stats().in_use, 1U);
}

using DbPoolDeathTest = DbPoolTest;

TEST_F(DbPoolDeathTest, ALeaseThatOutlivesItsPoolEndsTheProgram) {
  EXPECT_DEATH(
      {
        auto pool = MakePool(1);
        const DbLease lease = pool->Acquire();
        pool.reset();
      },
      "a connection is lent by a pool that is destroyed");
}

}  // namespace
}  // namespace TURTLE_SERVER
