// MariaDbDatabase() in a build without MariaDB Connector/C: it reports that.
#ifndef TURTLE_WITH_MARIADB

#include "db/mariadb_database.h"

namespace TURTLE_SERVER {

namespace {

class NoMariaDb : public Database {
 public:
  auto Open() -> std::unique_ptr<DbConnection> override {
    throw DbError(DbErrorKind::kUnavailable, Name(),
                  "this program was built without MariaDB (TURTLE_MARIADB)");
  }

  [[nodiscard]] auto Name() const -> std::string override { return "MariaDB"; }
};

}  // namespace

auto MariaDbDatabase(MariaDbOptions /*options*/) -> std::unique_ptr<Database> {
  return std::make_unique<NoMariaDb>();
}

}  // namespace TURTLE_SERVER

#endif  // !TURTLE_WITH_MARIADB
