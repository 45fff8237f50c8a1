#include "db/migrate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "db/sqlite_database.h"
#include "support/client.h"
#include "support/db_failure.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

const Migration kTodos{"todos",
                       {"CREATE TABLE todos (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT",
                        "INSERT INTO todos (title) VALUES ('buy milk')"}};
const Migration kDone{"done", {"ALTER TABLE todos ADD COLUMN done INTEGER NOT NULL DEFAULT 0"}};
const Migration kMore{"more", {"INSERT INTO todos (title) VALUES ('drink it')"}};

// Long enough to catch code that reads before it locks; code with the right order is never blamed.
constexpr std::chrono::milliseconds kAWhile{100};

void AwaitStart(const std::atomic<int>& started, int count) {
  auto end = std::chrono::steady_clock::now() + test::kPatience;
  while (started < count && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  end = std::chrono::steady_clock::now() + kAWhile;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
}

class MigrateTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.file = folder_.Path("todo.db");
    options_.sync = SqliteSync::kNormal;
    if (!test::IsBuiltWith(*SqliteDatabase({}))) {
      GTEST_SKIP() << "built without this database (TURTLE_SQLITE, TURTLE_MARIADB)";
    }
    connection_ = SqliteDatabase(options_)->Open();
  }

  auto Do(const std::vector<Migration>& steps) -> std::size_t {
    return Migrate(*connection_, steps);
  }

  // "" if nothing is thrown.
  auto Refusal(const std::vector<Migration>& steps) -> std::string {
    try {
      Do(steps);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  auto Count(const Sql& sql) -> std::int64_t {
    Rows rows = connection_->Query(sql);
    const Row* const row = rows.Next();
    return row == nullptr ? -1 : row->Get<std::int64_t>(0);
  }

  auto Todos() -> std::int64_t { return Count("SELECT COUNT(*) FROM todos"); }

  const test::SiteFolder folder_;
  SqliteOptions options_;
  std::unique_ptr<DbConnection> connection_;
};

TEST_F(MigrateTest, DoesEachStepOnce) {
  EXPECT_EQ(Do({kTodos, kDone, kMore}), 3U);
  EXPECT_EQ(Todos(), 2);
  EXPECT_EQ(Count("SELECT SUM(done) FROM todos"), 0);
  EXPECT_EQ(Do({kTodos, kDone, kMore}), 0U);
  EXPECT_EQ(Todos(), 2);
  EXPECT_FALSE(connection_->InTransaction());
}

TEST_F(MigrateTest, DoesWhatIsNew) {
  EXPECT_EQ(Do({kTodos}), 1U);
  EXPECT_EQ(Do({kTodos, kDone}), 1U);
  connection_ = SqliteDatabase(options_)->Open();  // the program was started again
  EXPECT_EQ(Do({kTodos, kDone, kMore}), 1U);
  EXPECT_EQ(Todos(), 2);
}

TEST_F(MigrateTest, NoStepsAreNoWork) {
  EXPECT_EQ(Do({}), 0U);
  EXPECT_EQ(Do({}), 0U);
  EXPECT_EQ(Do({kTodos}), 1U);
}

TEST_F(MigrateTest, AStepCountsAsAWhole) {
  const Migration wrong{"wrong",
                        {"INSERT INTO todos (title) VALUES ('half of it')",
                         "CREATE TABLE halves (id INTEGER PRIMARY KEY) STRICT",
                         "INSERT INTO nowhere (title) VALUES ('the other half')"}};
  EXPECT_EQ(test::Failure([&] { Do({kTodos, wrong, kMore}); }).Kind(), DbErrorKind::kSyntax);
  EXPECT_FALSE(connection_->InTransaction());
  EXPECT_EQ(Todos(), 1) << "the step before it counts, and nothing of it or behind it";
  EXPECT_EQ(Count("SELECT COUNT(*) FROM sqlite_master WHERE name = 'halves'"), 0);
  EXPECT_EQ(Do({kTodos, kDone, kMore}), 2U) << "once it is mended, it goes on";
  EXPECT_EQ(Todos(), 2);
}

// A constraint takes back its statement only, and leaves the transaction open.
TEST_F(MigrateTest, AlsoWhereARowIsRefused) {
  const Migration wrong{"wrong",
                        {"INSERT INTO todos (title) VALUES ('half of it')",
                         "INSERT INTO todos (title) VALUES (NULL)"}};
  EXPECT_EQ(test::Failure([&] { Do({kTodos, wrong}); }).Kind(), DbErrorKind::kConstraint);
  EXPECT_EQ(Todos(), 1);
  EXPECT_FALSE(connection_->InTransaction());
}

TEST_F(MigrateTest, AnOlderProgramIsRefused) {
  ASSERT_EQ(Do({kTodos, kDone, kMore}), 3U);
  EXPECT_EQ(Refusal({kTodos, kDone}), "the database has 3 migrations, and this program knows 2");
  EXPECT_EQ(Refusal({}), "the database has 3 migrations, and this program knows 0");
  EXPECT_EQ(Todos(), 2);
}

TEST_F(MigrateTest, AnotherHistoryIsRefused) {
  ASSERT_EQ(Do({kTodos, kDone}), 2U);
  const Migration urgent{"urgent", {"ALTER TABLE todos ADD COLUMN urgent INTEGER"}};
  EXPECT_EQ(Refusal({kTodos, urgent, kDone}),
            "migration 2 is 'done' in the database, and 'urgent' in this program");
  EXPECT_EQ(Refusal({kDone, kTodos, kMore}),
            "migration 1 is 'todos' in the database, and 'done' in this program");
  EXPECT_EQ(Todos(), 1) << "nothing was changed";
  EXPECT_EQ(Do({kTodos, kDone, urgent}), 1U);
}

TEST_F(MigrateTest, NamesAreTexts) {
  const std::string name = "it's \"new\"; -- \xc3\xa4";
  EXPECT_EQ(Do({{name, kTodos.statements}}), 1U);
  EXPECT_EQ(Do({{name, kTodos.statements}}), 0U);
}

// A service that is started several times at the same moment, with a file that is fresh, and with
// one of an earlier version. They all come during another transaction, so that they start together
// when that ends.
TEST_F(MigrateTest, ManyAtTheSameTime) {
  constexpr int kThreads = 4;
  constexpr std::size_t kSteps = 12;
  std::vector<Migration> steps = {kTodos};
  while (steps.size() < kSteps) {
    steps.push_back(
        {"step " + std::to_string(steps.size()), {"INSERT INTO todos (title) VALUES ('x')"}});
  }
  options_.busy = std::chrono::seconds(60);
  options_.timeout = std::chrono::seconds(60);
  for (const std::size_t before : {0U, 1U}) {
    options_.file = folder_.Path("many" + std::to_string(before) + ".db");
    connection_ = SqliteDatabase(options_)->Open();
    ASSERT_EQ(Do({steps.begin(), steps.begin() + before}), before);
    std::atomic<std::size_t> done{0};
    std::atomic<int> started{0};
    std::vector<std::string> errors(kThreads);
    std::vector<std::thread> threads;
    {
      const Transaction somebody_writes(*connection_);
      for (std::string& error : errors) {
        threads.emplace_back([&] {
          try {
            const auto connection = SqliteDatabase(options_)->Open();
            ++started;
            done += Migrate(*connection, steps);
          } catch (const std::exception& thrown) {
            ++started;
            error = thrown.what();
          }
        });
      }
      AwaitStart(started, kThreads);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(errors, std::vector<std::string>(kThreads));
    EXPECT_EQ(done, kSteps - before);
    EXPECT_EQ(Todos(), static_cast<std::int64_t>(kSteps));
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
