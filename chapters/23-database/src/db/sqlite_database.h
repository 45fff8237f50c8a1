// SQLite: a database that is a file, and a library that knows how to read it. No server, no
// network; a query is a function call that may wait for the disk.
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

/// The data that is on disk when a commit returns.
enum class SqliteSync : std::uint8_t {
  kFull,   ///< All of it: nothing that was acknowledged is lost, even if the power goes.
  kNormal  ///< What the kernel was given: safe from a crash of the program, not from the power's.
};

/// How a file is opened.
struct SqliteOptions {
  std::string file;                         ///< Its path; ":memory:" lives as long as a connection.
  std::chrono::milliseconds busy{5000};     ///< How long to wait for another writer; then kBusy.
  std::chrono::milliseconds timeout{5000};  ///< How long a statement may run; then kTimeout.
  SqliteSync sync = SqliteSync::kFull;      ///< What a commit waits for.
  std::size_t max_statements = DbConnection::kStatements;  ///< That stay prepared.
};

/// A database in a file, which is created if it isn't there: with a write-ahead log, so that
/// readers and one writer don't wait for each other, and with foreign keys that are heeded.
///
/// Values have types, columns only wishes: a text in an INTEGER column is kept as a text, unless
/// the table is declared STRICT.
///
/// @throws nothing yet; without SQLite in this build, Open() throws DbError kUnavailable
[[nodiscard]] auto SqliteDatabase(SqliteOptions options) -> std::unique_ptr<Database>;

}  // namespace TURTLE_SERVER
