#include "db/in_transaction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/sqlite_database.h"
#include "support/db_failure.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

// The calls to a toy database, and which of them fails how.
struct Toy {
  using Failure = std::pair<std::string, DbErrorKind>;  // "commit", kBusy

  void Do(const std::string& what) {
    done.push_back(what);
    if (!failures.empty() && failures.front().first == what) {
      const DbErrorKind kind = failures.front().second;
      failures.erase(failures.begin());
      throw DbError(kind, "toy", what);
    }
  }

  std::vector<Failure> failures;  // each once, in this order
  std::vector<std::string> done;
  bool in_transaction = false;
};

class ToyStatement : public DbDriverStatement {
 public:
  explicit ToyStatement(Toy& toy) : toy_(toy) {}
  [[nodiscard]] auto ParameterCount() const -> std::size_t override { return 0; }
  void Start(const std::vector<DbValue>&) override { toy_.Do("statement"); }
  auto Step() -> bool override { return false; }
  [[nodiscard]] auto Columns() const -> const std::vector<std::string>& override {
    return columns_;
  }
  [[nodiscard]] auto Column(std::size_t) const -> DbValue override { return nullptr; }
  [[nodiscard]] auto Outcome() const -> DbOutcome override { return {}; }
  void Reset() noexcept override {}

 private:
  Toy& toy_;
  const std::vector<std::string> columns_;
};

class ToyDriver : public DbDriver {
 public:
  explicit ToyDriver(Toy& toy) : toy_(toy) {}
  [[nodiscard]] auto Dialect() const noexcept -> DbDialect override { return DbDialect::kSqlite; }
  auto Prepare(std::string_view) -> std::unique_ptr<DbDriverStatement> override {
    return std::make_unique<ToyStatement>(toy_);
  }
  void Begin() override {
    toy_.Do("begin");
    toy_.in_transaction = true;
  }
  void Commit() override {
    toy_.Do("commit");
    toy_.in_transaction = false;
  }
  void Rollback() override {
    toy_.Do("rollback");
    toy_.in_transaction = false;
  }
  [[nodiscard]] auto InTransaction() const noexcept -> bool override { return toy_.in_transaction; }
  [[nodiscard]] auto Ping() noexcept -> bool override { return true; }
  [[nodiscard]] auto IsBroken() const noexcept -> bool override { return false; }

 private:
  Toy& toy_;
};

class InTransactionTest : public testing::Test {
 protected:
  // Tries up to `attempts` times. @return the number of attempts, or the negative kind of the error
  auto Try(int attempts) -> int {
    DbConnection connection(std::make_unique<ToyDriver>(toy_));
    try {
      return InTransaction(
          connection, attempts, [](DbConnection& bank) { bank.Execute("UPDATE"); },
          [&](int failed) {
            EXPECT_FALSE(connection.InTransaction()) << "all others wait as long as it does";
            pauses_.push_back(failed);
          });
    } catch (const DbError& error) {
      EXPECT_TRUE(connection.IsBroken() || !connection.InTransaction());
      return -static_cast<int>(error.Kind());
    }
  }

  static auto Error(DbErrorKind kind) -> int { return -static_cast<int>(kind); }

  [[nodiscard]] auto Count(const std::string& what) const -> std::ptrdiff_t {
    return std::count(toy_.done.begin(), toy_.done.end(), what);
  }

  Toy toy_;
  std::vector<int> pauses_;
};

using Done = std::vector<std::string>;

TEST_F(InTransactionTest, WhatSucceedsIsDoneOnce) {
  EXPECT_EQ(Try(3), 1);
  EXPECT_EQ(toy_.done, (Done{"begin", "statement", "commit"}));
  EXPECT_EQ(pauses_, std::vector<int>());
}

TEST_F(InTransactionTest, WhatWasBusyBeginsAgain) {
  toy_.failures = {{"statement", DbErrorKind::kBusy}};
  EXPECT_EQ(Try(3), 2);
  EXPECT_EQ(toy_.done, (Done{"begin", "statement", "rollback", "begin", "statement", "commit"}));
  EXPECT_EQ(pauses_, std::vector<int>{1});
}

TEST_F(InTransactionTest, WhereverItWasBusy) {
  toy_.failures = {{"begin", DbErrorKind::kBusy},
                   {"commit", DbErrorKind::kBusy},
                   {"statement", DbErrorKind::kBusy}};
  EXPECT_EQ(Try(4), 4);
  EXPECT_EQ(Count("begin"), 4);
  EXPECT_EQ(Count("commit"), 2);
  EXPECT_EQ(pauses_, (std::vector<int>{1, 2, 3}));
}

TEST_F(InTransactionTest, NotForEver) {
  toy_.failures = std::vector<Toy::Failure>(10, {"statement", DbErrorKind::kBusy});
  EXPECT_EQ(Try(3), Error(DbErrorKind::kBusy));
  EXPECT_EQ(Count("begin"), 3);
  EXPECT_EQ(pauses_, (std::vector<int>{1, 2})) << "there is nothing to wait for after the last";
  toy_.done.clear();
  pauses_.clear();
  EXPECT_EQ(Try(1), Error(DbErrorKind::kBusy));
  EXPECT_EQ(Count("begin"), 1);
  EXPECT_EQ(pauses_, std::vector<int>());
}

TEST_F(InTransactionTest, OtherErrorsAreNotRepeated) {
  for (const DbErrorKind kind :
       {DbErrorKind::kUnavailable, DbErrorKind::kTimeout, DbErrorKind::kConstraint,
        DbErrorKind::kSyntax, DbErrorKind::kFull, DbErrorKind::kMisuse}) {
    toy_ = {};
    toy_.failures = {{"statement", kind}};
    EXPECT_EQ(Try(3), Error(kind));
    EXPECT_EQ(toy_.done, (Done{"begin", "statement", "rollback"}));
  }
  EXPECT_EQ(pauses_, std::vector<int>());
}

// Perhaps only the response was lost: twice is worse than not at all.
TEST_F(InTransactionTest, ACommitOfWhichNobodyKnowsIsNotRepeated) {
  for (const DbErrorKind kind : {DbErrorKind::kUnavailable, DbErrorKind::kTimeout}) {
    toy_ = {};
    toy_.failures = {{"commit", kind}};
    EXPECT_EQ(Try(3), Error(kind));
    EXPECT_EQ(Count("statement"), 1);
  }
}

TEST_F(InTransactionTest, ABrokenConnectionIsNotUsedAgain) {
  toy_.failures = {{"statement", DbErrorKind::kBusy}, {"rollback", DbErrorKind::kUnavailable}};
  EXPECT_EQ(Try(3), Error(DbErrorKind::kBusy));
  EXPECT_EQ(toy_.done, (Done{"begin", "statement", "rollback"}));
}

TEST_F(InTransactionTest, WhatTheBodyThrowsComesOut) {
  DbConnection connection(std::make_unique<ToyDriver>(toy_));
  int calls = 0;
  EXPECT_THROW(InTransaction(connection, 3,
                             [&](DbConnection&) {
                               ++calls;
                               throw std::runtime_error("not enough on it");
                             }),
               std::runtime_error);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(toy_.done, (Done{"begin", "rollback"}));
}

// With a real one: another transaction writes, and ends during our pause.
TEST(InTransaction, GetsItsTurn) {
  const test::SiteFolder folder;
  SqliteOptions options;
  options.file = folder.Path("bank.db");
  options.busy = std::chrono::milliseconds(0);
  const auto database = SqliteDatabase(options);
  if (!test::IsBuiltWith(*database)) {
    GTEST_SKIP() << "built without this database (TURTLE_SQLITE, TURTLE_MARIADB)";
  }
  const auto mine = database->Open();
  const auto other = database->Open();
  mine->Execute("CREATE TABLE accounts (sum INTEGER NOT NULL) STRICT");
  mine->Execute("INSERT INTO accounts (sum) VALUES (100)");
  std::optional<Transaction> others(*other);
  other->Execute("UPDATE accounts SET sum = sum - 30");
  const int attempts = InTransaction(
      *mine, 3, [](DbConnection& bank) { bank.Execute("UPDATE accounts SET sum = sum * 2"); },
      [&](int failed) {
        if (failed == 2) {
          others->Commit();
        }
      });
  EXPECT_EQ(attempts, 3);
  Rows rows = other->Query("SELECT sum FROM accounts");
  const Row* const row = rows.Next();
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->Get<std::int64_t>(0), 140);
}

}  // namespace
}  // namespace TURTLE_SERVER
