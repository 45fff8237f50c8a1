// MariaDB, or MySQL: a server, spoken to by MariaDB Connector/C.
//
// Thread: as Database.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "db/database.h"

namespace TURTLE_SERVER {

/// The server's address, and the user. Every wait has a limit.
struct MariaDbOptions {
  std::string address = "127.0.0.1";        ///< A host; not asked for when there is a unix_socket.
  std::uint16_t port = 0;                   ///< 0: 3306.
  std::string unix_socket;                  ///< The path of the server's socket; empty: by TCP.
  std::string user;                         ///< Empty: who runs this program.
  std::string password;                     ///< Is never shown.
  std::string database_name;                ///< Empty: none is chosen.
  unsigned long client_flag = 0;            ///< CLIENT_… of mysql.h; NOLINT(google-runtime-int)
  std::chrono::seconds connect_timeout{5};  ///< Till the server has let us in.
  std::chrono::seconds read_timeout{15};    ///< Till it has begun to answer, then kTimeout; more
                                            ///< than `timeout`.
  std::chrono::seconds write_timeout{15};   ///< Till it has taken what we say.
  std::chrono::milliseconds timeout{5000};  ///< How long a statement may run; MariaDB enforces it.
  std::size_t max_statements = DbConnection::kStatements;  ///< That stay prepared.
};

/// A database of a server: in utf8mb4, strict about values, and with affected_rows as SQLite has
/// them (found, though they may have been the same before).
///
/// Each statement is its own transaction, unless there is a Transaction, whatever the server's
/// `autocommit` says. After an INSERT of several rows, last_id is that of the first.
///
/// All rows of a query are fetched when it is begun, so that others may be made while they are read
/// (not while a procedure's are). A query that may find many wants a LIMIT. DECIMAL is a text,
/// which loses nothing, but for a whole number; dates are texts.
///
/// A lost connection is not reopened by itself: its transaction and its locks are gone, and only
/// the caller knows where to begin again. DbPool opens another one.
///
/// @throws nothing yet; without Connector/C in this build, Open() throws DbError kUnavailable
[[nodiscard]] auto MariaDbDatabase(MariaDbOptions options) -> std::unique_ptr<Database>;

}  // namespace TURTLE_SERVER
