// The interface of a database vendor, on which DbConnection is built.
//
// SQLite and MariaDB implement it: two classes each, in a .cpp file, the only one that includes the
// vendor's header. Each function throws a DbError on failure, unless it is noexcept.
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

/// The dialect of SQL.
enum class DbDialect : std::uint8_t { kSqlite, kMariaDb };

/// A vendor's prepared statement.
class DbDriverStatement {
 public:
  virtual ~DbDriverStatement() = default;

  /// Returns how many '?' the statement has.
  [[nodiscard]] virtual auto ParameterCount() const -> std::size_t = 0;

  /// Starts it again. Memory borrowed in `values` is not used afterwards.
  virtual void Start(const std::vector<DbValue>& values) = 0;

  /// Goes to the next row, initially the first. @return false if there is none, and it is done
  virtual auto Step() -> bool = 0;

  /// Returns the names of the columns; after Start(). Empty if it returns no rows.
  [[nodiscard]] virtual auto Columns() const -> const std::vector<std::string>& = 0;

  /// Returns a column of the row, valid until the next Step(), Start() or Reset().
  [[nodiscard]] virtual auto Column(std::size_t index) const -> DbValue = 0;

  /// Returns its effect; once Step() has returned false.
  [[nodiscard]] virtual auto Outcome() const -> DbOutcome = 0;

  /// Ends it, and releases its rows, its locks and the memory of its values.
  virtual void Reset() noexcept = 0;
};

/// A vendor's connection.
class DbDriver {
 public:
  virtual ~DbDriver() = default;

  /// Returns its dialect of SQL.
  [[nodiscard]] virtual auto Dialect() const noexcept -> DbDialect = 0;

  /// Lets the database parse and plan a statement. The result must not outlive the driver.
  virtual auto Prepare(std::string_view sql) -> std::unique_ptr<DbDriverStatement> = 0;

  /// Begins, commits or rolls back a transaction.
  virtual void Begin() = 0;
  virtual void Commit() = 0;    ///< As above.
  virtual void Rollback() = 0;  ///< As above; without a transaction, it does nothing.

  /// Returns true while statements can still be rolled back. An error may have ended the
  /// transaction, and so do some statements.
  [[nodiscard]] virtual auto InTransaction() const noexcept -> bool = 0;

  /// Returns true if the database still responds.
  [[nodiscard]] virtual auto Ping() noexcept -> bool = 0;

  /// Returns true after an error that the connection can't survive.
  [[nodiscard]] virtual auto IsBroken() const noexcept -> bool = 0;
};

}  // namespace TURTLE_SERVER
