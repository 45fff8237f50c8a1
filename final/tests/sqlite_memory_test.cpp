// SQLite returns null for a text or a name if there is no memory for it. That is not NULL.
// https://www.sqlite.org/c3ref/column_blob.html
#include <gtest/gtest.h>

#include "db/sqlite_database.h"
#include "support/db_failure.h"
#include "support/site_folder.h"

#ifdef TURTLE_WITH_SQLITE

#include <sqlite3.h>

#include <memory>
#include <optional>
#include <string>

namespace TURTLE_SERVER {
namespace {

// While it lives, SQLite gets no more memory from the system.
class NoMoreMemory {
 public:
  NoMoreMemory() { sqlite3_hard_heap_limit64(sqlite3_memory_used()); }
  NoMoreMemory(const NoMoreMemory&) = delete;
  auto operator=(const NoMoreMemory&) -> NoMoreMemory& = delete;
  ~NoMoreMemory() { sqlite3_hard_heap_limit64(0); }
};

class SqliteMemoryTest : public testing::Test {
 protected:
  SqliteMemoryTest() {
    options_.file = folder_.Path("test.db");
    connection_ = SqliteDatabase(options_)->Open();
  }

  const test::SiteFolder folder_;
  SqliteOptions options_;
  std::unique_ptr<DbConnection> connection_;
};

// The row is there, in UTF-16: to return it in UTF-8, SQLite needs memory.
TEST_F(SqliteMemoryTest, ATextWithoutMemoryIsAnError) {
  connection_->Execute("PRAGMA encoding = 'UTF-16'");
  connection_->Execute("CREATE TABLE t (text TEXT) STRICT");
  connection_->Execute("INSERT INTO t VALUES (?)", std::string(3000, 'x'));
  Rows rows = connection_->Query("SELECT text FROM t");
  const Row* const row = rows.Next();
  ASSERT_NE(row, nullptr);
  const DbError error = test::Failure([&] {
    const NoMoreMemory limit;
    static_cast<void>(row->Get<std::string>(0));
  });
  EXPECT_EQ(error.Kind(), DbErrorKind::kOther) << error.what();
  EXPECT_NE(std::string(error.what()).find("out of memory"), std::string::npos) << error.what();
}

TEST_F(SqliteMemoryTest, BytesThatAreNoneAreNoError) {
  Rows rows = connection_->Query("SELECT x'', '', NULL");
  const Row* const row = rows.Next();
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->Get<Blob>(0).bytes, "");
  EXPECT_EQ(row->Get<std::string>(1), "");
  EXPECT_EQ(row->Get<std::optional<std::string>>(2), std::nullopt);
}

TEST_F(SqliteMemoryTest, WithoutMemoryNothingIsOpened) {
  const DbError error = test::Failure([&] {
    const NoMoreMemory limit;
    static_cast<void>(SqliteDatabase(options_)->Open());
  });
  EXPECT_NE(std::string(error.what()).find("out of memory"), std::string::npos) << error.what();
}

}  // namespace
}  // namespace TURTLE_SERVER

#else

TEST(SqliteMemoryTest, TheBuildHasSqlite) { GTEST_SKIP() << "built without SQLite"; }

#endif  // TURTLE_WITH_SQLITE
