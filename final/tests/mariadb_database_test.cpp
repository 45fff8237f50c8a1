// The things that only a server can do to a client: refuse it, stall, and die halfway.
#include "db/mariadb_database.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "db/db_pool.h"
#include "db/mariadb_error.h"
#include "support/child.h"
#include "support/db_failure.h"
#include "support/mariadb_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::Failure;

class MariaDbTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::IsBuiltWithMariaDb()) {
      GTEST_SKIP() << "built without this database (TURTLE_SQLITE, TURTLE_MARIADB)";
    }
    server_ = std::make_unique<test::MariaDbServer>();
  }

  std::unique_ptr<test::MariaDbServer> server_;
};

TEST_F(MariaDbTest, WhoIsNotLetInIsToldWhereAndNotByWhichPassword) {
  MariaDbOptions options = server_->Options("");
  options.user = "nobody";
  options.password = "open sesame";
  options.database_name = "treasure";
  const DbError error = Failure([&] { static_cast<void>(MariaDbDatabase(options)->Open()); });
  const std::string text = error.what();
  EXPECT_EQ(error.Kind(), DbErrorKind::kUnavailable) << text;
  EXPECT_NE(text.find("MariaDB treasure at " + server_->Socket()), std::string::npos) << text;
  EXPECT_NE(text.find("Access denied for user 'nobody'"), std::string::npos) << text;
  EXPECT_EQ(text.find("sesame"), std::string::npos) << text;
}

TEST_F(MariaDbTest, APasswordLetsIn) {
  MariaDbDatabase(server_->Options(""))
      ->Open()
      ->Execute("CREATE USER ada IDENTIFIED BY 'open sesame'");
  MariaDbOptions options = server_->Options("");
  options.user = "ada";
  options.password = "open sesame";
  EXPECT_TRUE(MariaDbDatabase(options)->Open()->Ping());
}

TEST_F(MariaDbTest, WithoutAServerItIsUnavailable) {
  const MariaDbOptions options = server_->Options("");
  const auto connection = MariaDbDatabase(options)->Open();
  Statement statement = connection->Prepare("SELECT 1");
  server_->Kill();
  EXPECT_EQ(Failure([&] { static_cast<void>(MariaDbDatabase(options)->Open()); }).Kind(),
            DbErrorKind::kUnavailable);
  EXPECT_EQ(Failure([&] { statement.Execute(); }).Kind(), DbErrorKind::kUnavailable);
  EXPECT_TRUE(connection->IsBroken());
  server_->Start();
  EXPECT_FALSE(connection->Ping()) << "it is not made anew in secret";
  EXPECT_EQ(Failure([&] { connection->Execute("SELECT 1"); }).Kind(), DbErrorKind::kUnavailable);
}

TEST_F(MariaDbTest, AServerThatStallsIsNotWaitedForForEver) {
  MariaDbOptions options = server_->Options("");
  options.read_timeout = seconds(1);
  options.connect_timeout = seconds(1);
  const auto connection = MariaDbDatabase(options)->Open();
  server_->Stall();
  const DbError error = Failure([&] { connection->Execute("SELECT 1"); });
  EXPECT_EQ(error.Kind(), DbErrorKind::kTimeout) << error.what();
  EXPECT_TRUE(connection->IsBroken())
      << "an answer may still come, to a question that was given up";
  EXPECT_TRUE(Failure([&] { static_cast<void>(MariaDbDatabase(options)->Open()); }).IsPassing());
  server_->Resume();
}

TEST_F(MariaDbTest, NumbersThatHaveNoPlaceAreNotMadeSmaller) {
  const auto connection = MariaDbDatabase(server_->Options("t"))->Open();
  connection->Execute("CREATE TABLE numbers (big BIGINT UNSIGNED, sum DECIMAL(10,2), day DATE)");
  connection->Execute("INSERT INTO numbers VALUES (18446744073709551615, 12.30, '2026-11-22')");
  Rows rows = connection->Query("SELECT big, sum, day FROM numbers");
  const Row& row = *rows.Next();
  EXPECT_EQ(Failure([&] { static_cast<void>(row.Get<std::int64_t>(0)); }).Kind(),
            DbErrorKind::kType);
  EXPECT_EQ(row.Get<std::string>(1), "12.30") << "no double holds that";
  EXPECT_EQ(row.Get<std::string>(2), "2026-11-22");
}

TEST_F(MariaDbTest, WhatDoesNotFitIsRefusedNotCut) {
  const auto connection = MariaDbDatabase(server_->Options("t"))->Open();
  connection->Execute("CREATE TABLE words (word VARCHAR(3), number TINYINT)");
  EXPECT_EQ(Failure([&] { connection->Execute("INSERT INTO words VALUES (?, 1)", "four"); }).Kind(),
            DbErrorKind::kConstraint);
  EXPECT_EQ(Failure([&] { connection->Execute("INSERT INTO words VALUES ('', ?)", 300); }).Kind(),
            DbErrorKind::kConstraint);
}

TEST_F(MariaDbTest, WhatIsLargerThanTheServerTakesIsRefused) {
  MariaDbDatabase(server_->Options(""))->Open()->Execute("SET GLOBAL max_allowed_packet = 1048576");
  const auto connection = MariaDbDatabase(server_->Options("t"))->Open();
  connection->Execute("CREATE TABLE texts (text LONGTEXT)");
  Statement insert = connection->Prepare("INSERT INTO texts VALUES (?)");
  EXPECT_EQ(Failure([&] { insert.Execute(std::string(2'000'000, 'x')); }).Kind(),
            DbErrorKind::kConstraint)
      << "later it is not smaller";
  EXPECT_FALSE(connection->IsBroken());
  insert.Execute(std::string(1'000'000, 'x'));
}

TEST_F(MariaDbTest, AServerThatWantsCommitsIsGivenThem) {
  MariaDbDatabase(server_->Options(""))->Open()->Execute("SET GLOBAL autocommit = 0");
  const MariaDbOptions options = server_->Options("t");
  const auto connection = MariaDbDatabase(options)->Open();
  connection->Execute("CREATE TABLE words (word VARCHAR(3))");
  connection->Execute("INSERT INTO words VALUES ('one')");
  const auto witness = MariaDbDatabase(options)->Open();
  EXPECT_EQ(witness->Query("SELECT COUNT(*) FROM words").Next()->Get<int>(0), 1);
}

TEST_F(MariaDbTest, AProcedureMayFindMoreThanOnce) {
  const auto connection = MariaDbDatabase(server_->Options("t"))->Open();
  connection->Execute("CREATE PROCEDURE twice() BEGIN SELECT 1 AS n; SELECT 2 AS n; END");
  connection->Execute("CREATE PROCEDURE fails() BEGIN SELECT 1 AS n; SELECT * FROM nowhere; END");
  for (int i = 0; i < 2; ++i) {
    Rows rows = connection->Query("CALL twice()");
    EXPECT_EQ(rows.Next()->Get<int>("n"), 1);
    if (i == 1) {
      EXPECT_EQ(rows.Next(), nullptr) << "the first rows are those that are given";
    }
  }
  EXPECT_EQ(connection->Query("SELECT 3").Next()->Get<int>(0), 3);
  EXPECT_EQ(Failure([&] { connection->Execute("CALL fails()"); }).Kind(), DbErrorKind::kSyntax);
  EXPECT_EQ(connection->Query("SELECT 4").Next()->Get<int>(0), 4);
  EXPECT_FALSE(connection->IsBroken());
}

// CREATE TABLE commits everything before it, without being asked to.
TEST_F(MariaDbTest, ATransactionThatAStatementHasCommittedIsOver) {
  const auto connection = MariaDbDatabase(server_->Options("t"))->Open();
  Transaction transaction(*connection);
  connection->Execute("CREATE TABLE words (word VARCHAR(3))");
  EXPECT_EQ(Failure([&] { connection->Execute("INSERT INTO words VALUES ('one')"); }).Kind(),
            DbErrorKind::kMisuse);
  EXPECT_EQ(Failure([&] { transaction.Commit(); }).Kind(), DbErrorKind::kMisuse);
}

TEST_F(MariaDbTest, OneStatementAtATimeWhateverTheFlags) {
  MariaDbOptions options = server_->Options("");
  options.client_flag = 1UL << 16;  // CLIENT_MULTI_STATEMENTS
  EXPECT_EQ(Failure([&] { static_cast<void>(MariaDbDatabase(options)->Open()); }).Kind(),
            DbErrorKind::kMisuse);
}

// Four threads write; the server is killed in the middle and restarted. Each row that was
// acknowledged is there, and each thread continues its work.
TEST_F(MariaDbTest, WhatWasAcknowledgedSurvivesAKill) {
  DbPoolOptions limits;
  limits.max_connections = 4;
  DbPool pool(MariaDbDatabase(server_->Options("t")), limits);
  pool.Acquire()->Execute("CREATE TABLE rows_ (id BIGINT PRIMARY KEY)");
  constexpr int kThreads = 4;
  std::mutex mutex;
  std::set<std::int64_t> acknowledged;
  std::atomic<int> before_kill = 0;
  std::atomic<int> after_kill = 0;
  std::atomic<bool> restarted = false;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (std::int64_t n = i; !stop; n += kThreads) {
        try {
          pool.Acquire()->Execute("INSERT INTO rows_ (id) VALUES (?)", n);
        } catch (const DbError& error) {
          EXPECT_TRUE(error.IsPassing()) << error.what();
          std::this_thread::yield();
          continue;  // nobody has said that it is there
        }
        const std::lock_guard<std::mutex> lock(mutex);
        acknowledged.insert(n);
        ++(restarted ? after_kill : before_kill);
      }
    });
  }
  const auto await = [](const std::atomic<int>& count, int wanted) {
    const auto end = std::chrono::steady_clock::now() + test::MariaDbServer::kLimit;
    while (count < wanted && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    return count >= wanted;
  };
  EXPECT_TRUE(await(before_kill, 40));
  server_->Kill();
  server_->Start();
  restarted = true;
  EXPECT_TRUE(await(after_kill, 40)) << "the pool has recovered";
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GE(pool.Stats().broken, 1U);
  std::set<std::int64_t> there;
  const DbLease connection = pool.Acquire();
  Rows rows = connection->Query("SELECT id FROM rows_");
  while (const Row* const row = rows.Next()) {
    there.insert(row->Get<std::int64_t>(0));
  }
  for (const std::int64_t n : acknowledged) {
    EXPECT_EQ(there.count(n), 1U) << n << " was acknowledged, and is lost";
  }
}

// --- examples/nonblocking_query: one thread, three queries that sleep
// -----------------------------

TEST_F(MariaDbTest, OfThreeQueriesOnOneThreadTheShortestComesFirst) {
  test::Child program(test::ExamplePath("nonblocking_query"), {server_->Socket(), "12", "1", "6"});
  EXPECT_EQ(program.ReadOutput(),
            "slept for 1 tenths of a second\nslept for 6 tenths of a second\n"
            "slept for 12 tenths of a second\n");
  EXPECT_EQ(program.Wait(), 0);
}

TEST(NonblockingQueryTest, WhatFailsIsSaid) {
  test::Child program(test::ExamplePath("nonblocking_query"), {"/nonexistent", "1"});
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_NE(program.ReadErrors().find("nonblocking_query: "), std::string::npos);
}

TEST(MariaDbErrorTest, TheServersQuotesAreNotHandedOn) {
  EXPECT_EQ(MariaDbReason(1062, "Duplicate entry 'x for key 'y'' for key 'PRIMARY'"),
            "such an entry exists for key 'PRIMARY'");
  EXPECT_EQ(MariaDbReason(1366, "Incorrect string value: 'secret' for column"), "error 1366");
  EXPECT_EQ(MariaDbReason(1146, "Table 't.x' doesn't exist"), "Table 't.x' doesn't exist");
  EXPECT_EQ(MariaDbErrorKind(1213), DbErrorKind::kBusy);
  EXPECT_EQ(MariaDbErrorKind(1020), DbErrorKind::kBusy) << "innodb_snapshot_isolation";
  EXPECT_EQ(MariaDbErrorKind(1615), DbErrorKind::kBusy) << "has to be prepared anew";
  EXPECT_EQ(MariaDbErrorKind(1690), DbErrorKind::kConstraint) << "a sum that is too large";
  EXPECT_EQ(MariaDbErrorKind(4031), DbErrorKind::kUnavailable) << "the server has hung up";
  EXPECT_EQ(MariaDbErrorKind(9999), DbErrorKind::kOther);
  EXPECT_TRUE(IsMariaDbConnectionLost(2013));
  EXPECT_FALSE(IsMariaDbConnectionLost(1062));
}

}  // namespace
}  // namespace TURTLE_SERVER
