// MariaDB, or MySQL: a server, accessed by MariaDB Connector/C.
//
// Thread: as for Database.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "db/database.h"

namespace TURTLE_SERVER {

/// The server's address and the user. Every wait is limited.
struct MariaDbOptions {
  std::string address = "127.0.0.1";        ///< A host; unused with a unix_socket.
  std::uint16_t port = 0;                   ///< 0: 3306.
  std::string unix_socket;                  ///< Path of the server's socket; empty: use TCP.
  std::string user;                         ///< Empty: the user of this process.
  std::string password;                     ///< Never shown.
  std::string database_name;                ///< Empty: none is selected.
  unsigned long client_flag = 0;            ///< CLIENT_… of mysql.h; NOLINT(google-runtime-int)
  std::chrono::seconds connect_timeout{5};  ///< Until the server has let us in.
  std::chrono::seconds read_timeout{15};    ///< Until it starts to respond, then kTimeout; must
                                            ///< exceed `timeout`.
  std::chrono::seconds write_timeout{15};   ///< Until it has taken our data.
  std::chrono::milliseconds timeout{5000};  ///< How long a statement may run; MariaDB enforces it.
  std::size_t max_statements = DbConnection::kStatements;  ///< How many stay prepared.
};

/// Returns a database on a server: in utf8mb4, strict about values, with affected_rows as in SQLite
/// (rows that were found, even if they did not change).
///
/// Each statement is its own transaction, unless there is a Transaction, whatever the server's
/// `autocommit` is. After an INSERT of several rows, last_id is that of the first.
///
/// All rows of a query are fetched when it starts, so other queries may run while they are read
/// (but not for those of a procedure). A query that may find many should have a LIMIT. A DECIMAL is
/// a text, which loses nothing, unless it is an integer; dates are texts.
///
/// A lost connection is not reopened automatically: its transaction and its locks are gone, and
/// only the caller knows where to restart. DbPool opens another one.
///
/// @throws nothing yet; without Connector/C in this build, Open() throws DbError kUnavailable
[[nodiscard]] auto MariaDbDatabase(MariaDbOptions options) -> std::unique_ptr<Database>;

}  // namespace TURTLE_SERVER
