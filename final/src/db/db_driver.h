// The interface that a database implements, so that there can be a DbConnection on it.
//
// SQLite and MariaDB implement this: two classes each, in a .cpp file, the only one that includes
// the vendor's header. Each function throws a DbError when it fails, unless it is noexcept.
//
// Thread: one at a time for each connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/db_value.h"

namespace TURTLE_SERVER {

/// The effect of a statement.
struct DbOutcome {
  std::uint64_t affected_rows = 0;  ///< Inserted, deleted, or found by an update.
  std::int64_t last_id = 0;         ///< Id of the inserted row; 0 if none was inserted.
};

/// In whose SQL statements are written.
enum class DbDialect : std::uint8_t { kSqlite, kMariaDb };

/// A prepared statement of a vendor's.
class DbDriverStatement {
 public:
  virtual ~DbDriverStatement() = default;

  /// Returns how many '?' it has.
  [[nodiscard]] virtual auto ParameterCount() const -> std::size_t = 0;

  /// Begins it again. Memory borrowed in `values` is not used afterwards.
  virtual void Start(const std::vector<DbValue>& values) = 0;

  /// Goes to the next row, the first at first. @return false: there is none, and it is done
  virtual auto Step() -> bool = 0;

  /// Returns the names of the columns; after Start(). Empty: it has no rows.
  [[nodiscard]] virtual auto Columns() const -> const std::vector<std::string>& = 0;

  /// A column of the row, valid until the next Step(), Start() or Reset().
  [[nodiscard]] virtual auto Column(std::size_t index) const -> DbValue = 0;

  /// Its effect; once Step() has returned false.
  [[nodiscard]] virtual auto Outcome() const -> DbOutcome = 0;

  /// Ends it, with whatever it holds: rows, locks, memory of the values.
  virtual void Reset() noexcept = 0;
};

/// A connection of a vendor's.
class DbDriver {
 public:
  virtual ~DbDriver() = default;

  /// Whose SQL it speaks.
  [[nodiscard]] virtual auto Dialect() const noexcept -> DbDialect = 0;

  /// Has the database read and plan a statement. Not to outlive the driver.
  virtual auto Prepare(std::string_view sql) -> std::unique_ptr<DbDriverStatement> = 0;

  /// Begins, ends and takes back a transaction.
  virtual void Begin() = 0;
  virtual void Commit() = 0;    ///< As above.
  virtual void Rollback() = 0;  ///< As above; without one, nothing happens.

  /// Returns true while what a statement does can be taken back. An error may have ended that, and
  /// some statements do.
  [[nodiscard]] virtual auto InTransaction() const noexcept -> bool = 0;

  /// Asks whether the database still answers.
  [[nodiscard]] virtual auto Ping() noexcept -> bool = 0;

  /// Returns true after an error that a connection does not survive.
  [[nodiscard]] virtual auto IsBroken() const noexcept -> bool = 0;
};

}  // namespace TURTLE_SERVER
