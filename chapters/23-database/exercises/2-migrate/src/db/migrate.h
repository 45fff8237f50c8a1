// Updates the tables of a database to the program's version, step by step, each step once.
//
//   const std::vector<Migration> kSteps = {
//     {"todos", {"CREATE TABLE todos (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT"}},
//     {"done", {"ALTER TABLE todos ADD COLUMN done INTEGER NOT NULL DEFAULT 0"}},
//   };
//   Migrate(*connection, kSteps);
//
// A step that was once released never changes; new ones are added after it.
//
// For SQLite, where a transaction can even roll back a CREATE TABLE. MariaDB commits before one.
//
// Thread: as for DbConnection. Several processes may do it at the same time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/db_connection.h"

namespace TURTLE_SERVER {

/// One step.
struct Migration {
  std::string name;             ///< its name in the database
  std::vector<Sql> statements;  ///< run all of them or none
};

/// Executes the steps that the database does not have yet, in order.
///
/// @param connection without a transaction, to a SQLite database
/// @param steps all steps that ever existed
/// @return how many this call has executed
/// @throws std::runtime_error "the database has 3 migrations, and this program knows 2",
///     "migration 2 is 'done' in the database, and 'urgent' in this program": then nothing was
///     changed. DbError of a step that fails: it has no effect, but those before it do.
auto Migrate(DbConnection& connection, const std::vector<Migration>& steps) -> std::size_t;

}  // namespace TURTLE_SERVER
