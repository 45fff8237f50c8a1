// A database: something that connections can be opened to.
//
// Interface:
//  * Open() opens one, as db/sqlite_database.h or db/mariadb_database.h do it.
//  * Name() says which database that is, for the log.
//
// Thread: any; Open() may wait for the network, and for a disk: not for a loop's.
#pragma once

#include <memory>
#include <string>

#include "db/db_connection.h"

namespace TURTLE_SERVER {

/// Opens connections.
class Database {
 public:
  virtual ~Database() = default;

  /// Opens a connection, all timeouts set.
  /// @throws DbError kUnavailable, or kSyntax when what it is told can't be: the text names the
  ///     database, and no password
  [[nodiscard]] virtual auto Open() -> std::unique_ptr<DbConnection> = 0;

  /// Which database, without a password: "SQLite todo.db".
  [[nodiscard]] virtual auto Name() const -> std::string = 0;
};

}  // namespace TURTLE_SERVER
