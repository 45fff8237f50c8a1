// SqliteDatabase() in a build without SQLite: it reports that.
#ifndef TURTLE_WITH_SQLITE

#include <utility>

#include "db/sqlite_database.h"

namespace TURTLE_SERVER {

namespace {

class NoSqlite : public Database {
 public:
  explicit NoSqlite(std::string file) : file_(std::move(file)) {}

  auto Open() -> std::unique_ptr<DbConnection> override {
    throw DbError(DbErrorKind::kUnavailable, Name(),
                  "this program was built without SQLite (TURTLE_SQLITE)");
  }

  [[nodiscard]] auto Name() const -> std::string override { return "SQLite " + file_; }

 private:
  const std::string file_;
};

}  // namespace

auto SqliteDatabase(SqliteOptions options) -> std::unique_ptr<Database> {
  return std::make_unique<NoSqlite>(std::move(options.file));
}

}  // namespace TURTLE_SERVER

#endif  // !TURTLE_WITH_SQLITE
