// A connection to a database, with prepared statements and typed rows.
//
//   Statement insert = connection.Prepare("INSERT INTO notes (text) VALUES (?)");
//   const std::int64_t id = insert.Execute(text).last_id;
//
//   Statement select = connection.Prepare("SELECT id, text FROM notes WHERE text LIKE ?");
//   for (Rows rows = select.Query("%milk%"); const Row* row = rows.Next();) {
//     Use(row->Get<std::int64_t>("id"), row->Get<std::string>("text"));
//   }
//
// Interface:
//  * DbConnection prepares statements, and keeps recently used ones prepared.
//  * Statement runs one with values: Execute() for its effect, Query() for its rows.
//  * Transaction makes several of them take effect together, or not at all.
//
// A prepared statement has been parsed and planned before there is a value. The value is sent
// separately and is never parsed as SQL: whatever a stranger writes remains a text.
//
// Statement, Rows and Row are handles. When their connection is destroyed, or returned to its pool,
// they are cut off, and fail with DbErrorKind::kMisuse if they are used.
//
// Thread: one at a time for a connection and everything made from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/lru_cache.h"
#include "db/db_driver.h"
#include "db/db_error.h"
#include "db/db_value.h"
#include "db/sql.h"

namespace TURTLE_SERVER {

class PreparedSql;

/// A row of a result. Valid until Rows::Next().
class Row {
 public:
  /// For Rows.
  explicit Row(const PreparedSql& statement) noexcept : statement_(statement) {}

  /// Returns how many columns there are.
  [[nodiscard]] auto Size() const -> std::size_t;

  /// Returns the value of a column. Views of text and of bytes are as valid as the row.
  /// @tparam Type a type of FromDbValue(): std::int64_t, double, bool, std::string,
  ///     std::string_view, Blob, std::optional of one of them
  /// @param column the first is 0
  /// @throws DbError kType, which names the statement, the column and its actual type
  template <class Type>
  [[nodiscard]] auto Get(std::size_t column) const -> Type {
    const DbValue value = At(column);
    try {
      return FromDbValue<Type>(value);
    } catch (const DbError&) {
      FailConversion(column, value);
    }
  }

  /// Returns the value of the first column with this name.
  template <class Type>
  [[nodiscard]] auto Get(std::string_view name) const -> Type {
    return Get<Type>(IndexOf(name));
  }

  /// Returns true if the column is NULL.
  [[nodiscard]] auto IsNull(std::size_t column) const -> bool {
    return std::holds_alternative<std::nullptr_t>(At(column));
  }

 private:
  [[nodiscard]] auto At(std::size_t column) const -> DbValue;
  [[nodiscard]] auto IndexOf(std::string_view name) const -> std::size_t;
  [[noreturn]] void FailConversion(std::size_t column, const DbValue& value) const;

  const PreparedSql& statement_;
};

/// The rows of a query, one at a time. Its statement is busy until this object is destroyed.
class Rows {
 public:
  /// For Statement, which has started it.
  explicit Rows(std::shared_ptr<PreparedSql> statement);
  Rows(Rows&&) noexcept = default;
  Rows(const Rows&) = delete;
  auto operator=(const Rows&) -> Rows& = delete;
  ~Rows();

  /// Returns the next row, initially the first; nullptr if there is none.
  /// @throws DbError
  [[nodiscard]] auto Next() -> const Row*;

 private:
  std::shared_ptr<PreparedSql> statement_;  // shared with the Statement and the connection's cache
  Row row_;
  bool first_ = false;  // was fetched, but not yet returned
  bool ended_ = false;
};

/// A prepared statement.
class Statement {
 public:
  /// For DbConnection.
  explicit Statement(std::shared_ptr<PreparedSql> prepared) : prepared_(std::move(prepared)) {}

  /// Runs the statement to its end.
  /// @param values one for each '?', see ToDbValue()
  /// @return its effect
  /// @throws DbError; kType if there are more or fewer values than '?'
  template <class... Values>
  auto Execute(const Values&... values) -> DbOutcome {
    return ExecuteWith({ToDbValue(values)...});
  }

  /// Runs the statement to its first row. It can't be run again while the rows are being read. If
  /// it also changes data, as INSERT … RETURNING does, the change is complete after the last row.
  /// @param values as above
  /// @throws DbError
  template <class... Values>
  [[nodiscard]] auto Query(const Values&... values) -> Rows {
    return QueryWith({ToDbValue(values)...});
  }

 private:
  auto ExecuteWith(const std::vector<DbValue>& values) -> DbOutcome;
  auto QueryWith(const std::vector<DbValue>& values) -> Rows;

  std::shared_ptr<PreparedSql> prepared_;  // shared with its Rows and the connection's cache
};

/// A connection to a database.
class DbConnection {
 public:
  /// How many statements stay prepared. The server has a limit, too, for all its clients together.
  static constexpr std::size_t kStatements = 64;

  /// For Database.
  /// @param driver does the work
  /// @param max_statements how many stay prepared when they are not in use
  explicit DbConnection(std::unique_ptr<DbDriver> driver, std::size_t max_statements = kStatements);

  /// Cuts off everything made from it, and closes.
  ~DbConnection();

  DbConnection(const DbConnection&) = delete;
  auto operator=(const DbConnection&) -> DbConnection& = delete;

  /// Prepares `sql`, or takes it from the cache.
  /// @throws DbError kSyntax if it is invalid, or more than one statement
  [[nodiscard]] auto Prepare(const Sql& sql) -> Statement;

  /// Prepares a statement and executes it.
  template <class... Values>
  auto Execute(const Sql& sql, const Values&... values) -> DbOutcome {
    return Prepare(sql).Execute(values...);
  }

  /// Prepares a statement and queries it.
  template <class... Values>
  [[nodiscard]] auto Query(const Sql& sql, const Values&... values) -> Rows {
    return Prepare(sql).Query(values...);
  }

  /// Returns its dialect of SQL.
  [[nodiscard]] auto Dialect() const noexcept -> DbDialect { return driver_->Dialect(); }

  /// Returns true if the database still responds.
  [[nodiscard]] auto Ping() noexcept -> bool { return driver_->Ping(); }

  /// Returns true after an error that the connection can't survive, or if a transaction could not
  /// be rolled back: it must be reopened.
  [[nodiscard]] auto IsBroken() const noexcept -> bool { return broken_ || driver_->IsBroken(); }

  /// Returns true while there is a Transaction, or one that a statement has begun.
  [[nodiscard]] auto InTransaction() const noexcept -> bool {
    return in_transaction_ || driver_->InTransaction();
  }

  /// Cuts off statements and rows that are still in use; for DbPool.
  void CutOff() noexcept;

  /// Returns the cache's statistics; hits are statements that didn't have to be prepared.
  [[nodiscard]] auto CacheStats() const noexcept -> const LruStats& { return cache_.Stats(); }

 private:
  friend class Transaction;
  friend class PreparedSql;

  void Begin();
  void Commit();
  void Rollback() noexcept;
  void RequireTransaction(std::string_view where) const;
  void TakeNote(const DbError& error) noexcept;

  const std::unique_ptr<DbDriver> driver_;
  std::unordered_set<PreparedSql*> prepared_;  // all of them, to be cut off
  LruCache<std::string, std::shared_ptr<PreparedSql>> cache_;
  bool in_transaction_ = false;
  bool transaction_failed_ = false;  // and can only be rolled back
  bool broken_ = false;
};

/// Several statements that take effect together, or not at all.
///
/// After an error other than kConstraint, kSyntax and kType, the transaction can only be rolled
/// back: the statements that follow fail, too (kMisuse). They also fail after a statement that
/// commits, as CREATE TABLE does with MariaDB.
///
///   Transaction transaction(connection);
///   take.Execute(sum, from);
///   give.Execute(sum, to);     // if this throws, nothing was taken
///   transaction.Commit();
class Transaction {
 public:
  /// Begins it. If the database has only one right to write, claims it at once: a transaction that
  /// reads first and then can't write would have to start over.
  /// @param connection outlives it, and has no other transaction
  /// @throws DbError kBusy, kUnavailable; kMisuse if there already is one
  explicit Transaction(DbConnection& connection) : connection_(connection) { connection.Begin(); }

  /// Rolls back, unless Commit() was called. If even that fails, the connection is broken.
  ~Transaction() {
    if (open_) {
      connection_.Rollback();
    }
  }

  Transaction(const Transaction&) = delete;
  auto operator=(const Transaction&) -> Transaction& = delete;

  /// Commits. When this returns, the data is on disk, as far as the database is configured for
  /// that.
  /// @throws DbError if nothing has taken effect; after kUnavailable and kTimeout, that is unknown
  void Commit() {
    connection_.Commit();
    open_ = false;
  }

 private:
  DbConnection& connection_;
  bool open_ = true;
};

}  // namespace TURTLE_SERVER
