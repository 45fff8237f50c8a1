// Conditions that only a file can be in: locked, broken, missing. And how it is opened.
#include "db/sqlite_database.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/db_failure.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Failure;

// The compiler decides which text can become a statement.
static_assert(std::is_convertible_v<const char (&)[9], Sql>);
static_assert(!std::is_convertible_v<char (&)[9], Sql>, "a buffer");
static_assert(!std::is_convertible_v<std::string, Sql>, "put together while the program runs");
static_assert(!std::is_convertible_v<std::string_view, Sql>);
static_assert(!std::is_convertible_v<const char*, Sql>);

class SqliteTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::IsBuiltWith(*SqliteDatabase({}))) {
      GTEST_SKIP() << "built without this database (TURTLE_SQLITE, TURTLE_MARIADB)";
    }
  }

  [[nodiscard]] auto Options() const -> SqliteOptions {
    SqliteOptions options;
    options.file = folder_.Path("test.db");
    return options;
  }

  static auto Pragma(DbConnection& connection, const Sql& sql) -> DbValue {
    Rows rows = connection.Query(sql);
    const Row& row = *rows.Next();
    return row.Get<std::int64_t>(0);
  }

  const test::SiteFolder folder_;
};

TEST_F(SqliteTest, ACommitWaitsForTheDisk) {
  const auto connection = SqliteDatabase(Options())->Open();
  Rows journal = connection->Query("PRAGMA journal_mode");
  EXPECT_EQ(journal.Next()->Get<std::string>(0), "wal");
  constexpr std::int64_t kFull = 2;
  EXPECT_EQ(std::get<std::int64_t>(Pragma(*connection, "PRAGMA synchronous")), kFull);
  EXPECT_EQ(std::get<std::int64_t>(Pragma(*connection, "PRAGMA foreign_keys")), 1);
  EXPECT_EQ(std::get<std::int64_t>(Pragma(*connection, "PRAGMA busy_timeout")), 5000);
  SqliteOptions options = Options();
  options.sync = SqliteSync::kNormal;
  EXPECT_EQ(std::get<std::int64_t>(Pragma(*SqliteDatabase(options)->Open(), "PRAGMA synchronous")),
            1);
}

TEST_F(SqliteTest, AFileThatIsNoneIsNamed) {
  SqliteOptions options;
  options.file = folder_.Path("no/such/folder/test.db");
  const DbError missing = Failure([&] { static_cast<void>(SqliteDatabase(options)->Open()); });
  EXPECT_EQ(missing.Kind(), DbErrorKind::kUnavailable);
  EXPECT_NE(std::string(missing.what()).find(options.file), std::string::npos) << missing.what();
  folder_.Write("text.db", std::string(5000, 'x'));
  options.file = folder_.Path("text.db");
  EXPECT_EQ(Failure([&] { static_cast<void>(SqliteDatabase(options)->Open()); }).Kind(),
            DbErrorKind::kUnavailable);
}

// The reader's snapshot is from before the write: if it could write now, it would overwrite data
// that it has not seen. BEGIN IMMEDIATE makes it wait at its beginning instead.
TEST_F(SqliteTest, ATransactionThatReadsFirstMayWrite) {
  const auto one = SqliteDatabase(Options())->Open();
  const auto other = SqliteDatabase(Options())->Open();
  one->Execute("CREATE TABLE t (n INTEGER) STRICT");
  one->Execute("INSERT INTO t VALUES (1)");
  Transaction transaction(*one);
  EXPECT_EQ(one->Query("SELECT n FROM t").Next()->Get<int>(0), 1);
  other->Execute("PRAGMA busy_timeout = 1");
  EXPECT_EQ(Failure([&] { other->Execute("UPDATE t SET n = 5"); }).Kind(), DbErrorKind::kBusy);
  EXPECT_EQ(other->Query("SELECT n FROM t").Next()->Get<int>(0), 1) << "to read is no problem";
  one->Execute("UPDATE t SET n = n + 1");
  transaction.Commit();
  EXPECT_EQ(other->Query("SELECT n FROM t").Next()->Get<int>(0), 2);
}

TEST_F(SqliteTest, AStrictTableRefusesOtherTypes) {
  const auto connection = SqliteDatabase(Options())->Open();
  connection->Execute("CREATE TABLE loose (n INTEGER)");
  connection->Execute("INSERT INTO loose VALUES (?)", "many");
  EXPECT_EQ(connection->Query("SELECT n FROM loose").Next()->Get<std::string>(0), "many");
  connection->Execute("CREATE TABLE tight (n INTEGER) STRICT");
  EXPECT_EQ(Failure([&] { connection->Execute("INSERT INTO tight VALUES (?)", "many"); }).Kind(),
            DbErrorKind::kConstraint);
}

TEST_F(SqliteTest, ATextInDoubleQuotesIsNone) {
  const auto connection = SqliteDatabase(Options())->Open();
  EXPECT_EQ(Failure([&] { connection->Execute("SELECT \"nothing\""); }).Kind(),
            DbErrorKind::kSyntax)
      << "a misspelt column would be its own name";
}

TEST_F(SqliteTest, ACommentAfterAStatementIsNoSecondOne) {
  const auto connection = SqliteDatabase(Options())->Open();
  EXPECT_EQ(connection->Query("SELECT 1; -- done").Next()->Get<int>(0), 1);
  EXPECT_EQ(connection->Query("SELECT 2 /* a */; /* b */ ;\f-- c\n /* d").Next()->Get<int>(0), 2);
  EXPECT_EQ(connection->Query("-- first\nSELECT 3;/**/--\n").Next()->Get<int>(0), 3);
  for (const Sql& two :
       {Sql("SELECT 1; SELECT 2"), Sql("SELECT 1; -- done\nSELECT 2"), Sql("SELECT 1; /*/*/ x"),
        Sql("SELECT 1; - done"), Sql("SELECT 1; / done"), Sql("SELECT 1; nonsense"),
        Sql("-- nothing"), Sql("; /* nothing */"), Sql("")}) {
    EXPECT_EQ(Failure([&] { connection->Execute(two); }).Kind(), DbErrorKind::kSyntax);
  }
}

// A trigger's rows have their own ids, and so have the rows of other tables.
TEST_F(SqliteTest, OnlyTheRowThatAStatementInsertsHasTheLastId) {
  const auto connection = SqliteDatabase(Options())->Open();
  connection->Execute("CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT UNIQUE, n INTEGER)");
  connection->Execute("CREATE TABLE audit (id INTEGER PRIMARY KEY, word TEXT)");
  connection->Execute(
      "CREATE TRIGGER noted AFTER UPDATE ON words BEGIN "
      "INSERT INTO audit (word) VALUES (new.word); END");
  connection->Execute(
      "CREATE TRIGGER added AFTER INSERT ON words BEGIN "
      "INSERT INTO audit (word) VALUES (new.word); END");
  constexpr char kUpsert[] =
      "INSERT INTO words (word, n) VALUES (?, 1) ON CONFLICT (word) DO UPDATE SET n = n + 1";
  EXPECT_EQ(connection->Execute(kUpsert, "one").last_id, 1);
  EXPECT_EQ(connection->Execute(kUpsert, "one").last_id, 0) << "it was there";
  EXPECT_EQ(connection->Execute(kUpsert, "two").last_id, 2);
  EXPECT_EQ(connection->Execute("UPDATE words SET n = 0").last_id, 0);
  EXPECT_EQ(connection->Execute("INSERT INTO audit (word) SELECT word FROM words").last_id, 7);
  EXPECT_EQ(connection->Execute("REPLACE INTO words VALUES (2, 'three', 1)").last_id, 2);
  Rows rows = connection->Query("INSERT INTO words (word) VALUES ('a'), ('b') RETURNING id");
  while (rows.Next() != nullptr) {
  }
  EXPECT_EQ(
      connection->Execute("INSERT INTO words VALUES (last_insert_rowid() + 10, 'c', 1)").last_id,
      14)
      << "SQL still knows it";
}

TEST_F(SqliteTest, ATriggerThatInsertsIntoTheSameTableHasNoSayInTheLastId) {
  const auto connection = SqliteDatabase(Options())->Open();
  connection->Execute("CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT)");
  connection->Execute(
      "CREATE TRIGGER before_insert BEFORE INSERT ON words WHEN new.word NOT LIKE 'of %' BEGIN "
      "INSERT INTO words (word) VALUES ('of ' || new.word); END");
  connection->Execute(
      "CREATE TRIGGER after_insert AFTER INSERT ON words WHEN new.word NOT LIKE 'of %' BEGIN "
      "INSERT INTO words (word) VALUES ('of ' || new.word), ('of it'); END");
  const auto id_of = [&](std::string_view word) {
    return connection->Query("SELECT id FROM words WHERE word = ?", word).Next()->Get<int>(0);
  };
  const auto one = connection->Execute("INSERT INTO words (word) VALUES ('one')").last_id;
  EXPECT_EQ(one, id_of("one"));
  const auto second = connection->Execute("INSERT INTO words (word) VALUES ('a'), ('b')").last_id;
  EXPECT_EQ(second, id_of("b"));
}

TEST_F(SqliteTest, ATableOfTheSameNameElsewhereIsAnother) {
  const auto connection = SqliteDatabase(Options())->Open();
  connection->Execute("CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT UNIQUE)");
  connection->Execute("CREATE TEMP TABLE words (id INTEGER PRIMARY KEY, word TEXT UNIQUE)");
  connection->Execute("INSERT INTO temp.words VALUES (7, 'temporary')");
  EXPECT_EQ(connection->Execute("INSERT INTO main.words VALUES (3, 'kept')").last_id, 3);
  EXPECT_EQ(connection->Execute("INSERT INTO words (word) VALUES ('more')").last_id, 8);
}

TEST_F(SqliteTest, ATableOfTheSameNameThatComesOrGoesIsFollowed) {
  const auto connection = SqliteDatabase(Options())->Open();
  const auto insert = [&] {
    return connection->Execute("INSERT INTO words (word) VALUES ('a')").last_id;
  };
  connection->Execute("CREATE TABLE main.words (id INTEGER PRIMARY KEY, word TEXT)");
  connection->Execute("INSERT INTO main.words (id, word) VALUES (40, 'kept')");
  EXPECT_EQ(insert(), 41);
  connection->Execute("CREATE TEMP TABLE words (id INTEGER PRIMARY KEY, word TEXT)");
  EXPECT_EQ(insert(), 1);
  EXPECT_EQ(insert(), 2);
  connection->Execute("DROP TABLE temp.words");
  EXPECT_EQ(insert(), 42);
  EXPECT_EQ(insert(), 43);
}

TEST_F(SqliteTest, AFileNameWithANulIsRefused) {
  SqliteOptions options = Options();
  options.file += std::string("\0x", 2);
  EXPECT_THROW(static_cast<void>(SqliteDatabase(options)->Open()), DbError);
}

TEST_F(SqliteTest, RowsOfVirtualTablesHaveIdsAndRowsWithoutRowidHaveNone) {
  const auto connection = SqliteDatabase(Options())->Open();
  connection->Execute("CREATE TABLE plain (id INTEGER PRIMARY KEY)");
  connection->Execute("INSERT INTO plain VALUES (42)");
  connection->Execute("CREATE TABLE keyed (word TEXT PRIMARY KEY) WITHOUT ROWID");
  EXPECT_EQ(connection->Execute("INSERT INTO keyed VALUES ('one')").last_id, 0);
  try {
    connection->Execute("CREATE VIRTUAL TABLE Texts USING fts5(body)");
  } catch (const DbError&) {
    return;  // a library without it
  }
  EXPECT_EQ(connection->Execute("INSERT INTO texts (body) VALUES ('one')").last_id, 1);
  EXPECT_EQ(connection->Execute("INSERT INTO texts (rowid, body) VALUES (9, 'two')").last_id, 9);
  EXPECT_EQ(connection->Execute("UPDATE texts SET body = 'three'").last_id, 0);
}

TEST_F(SqliteTest, NoTimeLimitIsNoTimeOut) {
  SqliteOptions options = Options();
  options.timeout = std::chrono::milliseconds::max();
  options.busy = std::chrono::milliseconds::max();
  const auto connection = SqliteDatabase(options)->Open();
  EXPECT_GT(std::get<std::int64_t>(Pragma(*connection, "PRAGMA busy_timeout")), 1'000'000);
  const Sql long_one =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
      "SELECT count(*) FROM n";
  EXPECT_EQ(connection->Query(long_one).Next()->Get<int>(0), 100'000);
}

// sqlite3_step() of a statement that has failed would restart it.
TEST_F(SqliteTest, RowsThatHaveFailedAreOver) {
  SqliteOptions options = Options();
  options.timeout = std::chrono::milliseconds(100);
  const auto connection = SqliteDatabase(options)->Open();
  Rows rows = connection->Query(
      "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) "
      "SELECT n FROM numbers WHERE n = 1");
  EXPECT_EQ(rows.Next()->Get<int>(0), 1);
  EXPECT_EQ(Failure([&] { static_cast<void>(rows.Next()); }).Kind(), DbErrorKind::kTimeout);
  EXPECT_EQ(rows.Next(), nullptr);
}

TEST_F(SqliteTest, AnErrorQuotesNoValue) {
  const auto connection = SqliteDatabase(Options())->Open();
  const DbError error =
      Failure([&] { connection->Execute("SELECT json_extract('{}', ?)", "sesame"); });
  EXPECT_EQ(error.Kind(), DbErrorKind::kSyntax);
  EXPECT_EQ(std::string(error.what()).find("sesame"), std::string::npos) << error.what();
}

TEST_F(SqliteTest, AFileWithoutANameIsRefused) {
  EXPECT_EQ(Failure([&] { static_cast<void>(SqliteDatabase({})->Open()); }).Kind(),
            DbErrorKind::kMisuse)
      << "SQLite would make one that is gone afterwards";
}

// All of them try to switch it to WAL mode.
TEST_F(SqliteTest, AFreshFileIsOpenedByManyAtOnce) {
  for (int round = 0; round < 10; ++round) {
    SqliteOptions options;
    options.file = folder_.Path(std::to_string(round));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        EXPECT_NO_THROW(SqliteDatabase(options)->Open()->Execute(
            "CREATE TABLE IF NOT EXISTS t (n INTEGER) STRICT"));
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
}

TEST_F(SqliteTest, ALimitOfThePagesIsAFullDisk) {
  const auto connection = SqliteDatabase(Options())->Open();
  connection->Execute("CREATE TABLE t (text TEXT)");
  connection->Execute("PRAGMA max_page_count = 10");
  EXPECT_EQ(Failure([&] {
              Transaction transaction(*connection);
              connection->Execute("INSERT INTO t VALUES (?)", std::string(1'000'000, 'x'));
            }).Kind(),
            DbErrorKind::kFull);
  EXPECT_FALSE(connection->IsBroken());
  connection->Execute("INSERT INTO t VALUES (?)", "short");
}

}  // namespace
}  // namespace TURTLE_SERVER
