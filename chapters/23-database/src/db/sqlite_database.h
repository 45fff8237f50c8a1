// SQLite: a database in a file, accessed by a library. There is no server and no network; a query
// is a function call that may wait for the disk.
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

/// Which data is on disk when a commit returns.
enum class SqliteSync : std::uint8_t {
  kFull,   ///< All of it: acknowledged data survives even a power failure.
  kNormal  ///< Data given to the kernel: it survives a crash of the program, not of the power.
};

/// How to open a file.
struct SqliteOptions {
  std::string file;                         ///< Its path; ":memory:" lasts as long as a connection.
  std::chrono::milliseconds busy{5000};     ///< How long to wait for another writer; then kBusy.
  std::chrono::milliseconds timeout{5000};  ///< How long a statement may run; then kTimeout.
  SqliteSync sync = SqliteSync::kFull;      ///< What a commit waits for.
  std::size_t max_statements = DbConnection::kStatements;  ///< How many stay prepared.
};

/// Returns a database in a file, which is created if it doesn't exist: with a write-ahead log, so
/// readers and one writer don't wait for each other, and with foreign keys enforced.
///
/// Values have types, columns only preferences: a text in an INTEGER column stays a text, unless
/// the table is declared STRICT.
///
/// @throws nothing yet; without SQLite in this build, Open() throws DbError kUnavailable
[[nodiscard]] auto SqliteDatabase(SqliteOptions options) -> std::unique_ptr<Database>;

}  // namespace TURTLE_SERVER
