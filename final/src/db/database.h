// A database to which connections can be opened.
//
// Interface:
//  * Open() opens one; db/sqlite_database.h and db/mariadb_database.h implement it.
//  * Name() returns the database's name, for the log.
//
// Thread: any. Open() may wait for the network and for a disk, so not a loop's.
#pragma once

#include <memory>
#include <string>

#include "db/db_connection.h"

namespace TURTLE_SERVER {

/// Opens connections.
class Database {
 public:
  virtual ~Database() = default;

  /// Opens a connection with all timeouts set.
  /// @throws DbError kUnavailable, or kSyntax for invalid settings: the text names the database,
  ///     without a password
  [[nodiscard]] virtual auto Open() -> std::unique_ptr<DbConnection> = 0;

  /// Returns the name of the database, without a password: "SQLite todo.db".
  [[nodiscard]] virtual auto Name() const -> std::string = 0;
};

}  // namespace TURTLE_SERVER
