// A conversation with a database: statements that are prepared once, and rows with types.
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
//  * DbConnection prepares statements, and keeps those that were used last, prepared.
//  * Statement runs one with values: Execute() for what it does, Query() for what it finds.
//  * Transaction makes several of them one, or none.
//
// A statement that is prepared has been read and planned before there is a value. The value is sent
// beside it and is never read as SQL: whatever a stranger writes, it stays a text.
//
// Statement, Rows and Row are handles. When their connection goes, or goes back to its pool, they
// are cut off, and say so if they are used (DbErrorKind::kMisuse).
//
// Thread: one at a time for a connection and all that was made of it.
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

/// A row that was found. Valid until Rows::Next().
class Row {
 public:
  /// For Rows.
  explicit Row(const PreparedSql& statement) noexcept : statement_(statement) {}

  /// Returns how many columns there are.
  [[nodiscard]] auto Size() const -> std::size_t;

  /// Returns the value of a column. Views, of text and of bytes, are as valid as the row.
  /// @tparam Type as FromDbValue() has it: std::int64_t, double, bool, std::string,
  ///     std::string_view, Blob, std::optional of one of them
  /// @param column the first is 0
  /// @throws DbError kType, which names the statement, the column and what it is instead
  template <class Type>
  [[nodiscard]] auto Get(std::size_t column) const -> Type {
    const DbValue value = At(column);
    try {
      return FromDbValue<Type>(value);
    } catch (const DbError&) {
      FailConversion(column, value);
    }
  }

  /// The same of the first column with this name.
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

/// The rows of a query, one at a time. Its statement is busy until it goes.
class Rows {
 public:
  /// For Statement, which has begun it.
  explicit Rows(std::shared_ptr<PreparedSql> statement);
  Rows(Rows&&) noexcept = default;
  Rows(const Rows&) = delete;
  auto operator=(const Rows&) -> Rows& = delete;
  ~Rows();

  /// Returns the next row, the first at first; nullptr: there is none.
  /// @throws DbError
  [[nodiscard]] auto Next() -> const Row*;

 private:
  std::shared_ptr<PreparedSql> statement_;  // shared with the Statement and the connection's cache
  Row row_;
  bool first_ = false;  // has been gone to, and is to be given out
  bool ended_ = false;
};

/// A prepared statement.
class Statement {
 public:
  /// For DbConnection.
  explicit Statement(std::shared_ptr<PreparedSql> prepared) : prepared_(std::move(prepared)) {}

  /// Runs it, to its end.
  /// @param values one for each '?', see ToDbValue()
  /// @return what it has done
  /// @throws DbError; kType if there are more or fewer values than '?'
  template <class... Values>
  auto Execute(const Values&... values) -> DbOutcome {
    return ExecuteWith({ToDbValue(values)...});
  }

  /// Runs it to its first row. As long as the rows are read it can't be run again. If it changes
  /// something, too, as INSERT … RETURNING does, that counts when the last row was read.
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
  /// @param driver that does it
  /// @param max_statements that stay prepared when nobody holds them
  explicit DbConnection(std::unique_ptr<DbDriver> driver, std::size_t max_statements = kStatements);

  /// Cuts off what was made of it, and closes.
  ~DbConnection();

  DbConnection(const DbConnection&) = delete;
  auto operator=(const DbConnection&) -> DbConnection& = delete;

  /// Prepares `sql`, or takes it from the cache.
  /// @throws DbError kSyntax when it is none, or more than one
  [[nodiscard]] auto Prepare(const Sql& sql) -> Statement;

  /// Prepares and executes.
  template <class... Values>
  auto Execute(const Sql& sql, const Values&... values) -> DbOutcome {
    return Prepare(sql).Execute(values...);
  }

  /// Prepares and queries.
  template <class... Values>
  [[nodiscard]] auto Query(const Sql& sql, const Values&... values) -> Rows {
    return Prepare(sql).Query(values...);
  }

  /// Whose SQL it speaks.
  [[nodiscard]] auto Dialect() const noexcept -> DbDialect { return driver_->Dialect(); }

  /// Asks the database whether it still answers.
  [[nodiscard]] auto Ping() noexcept -> bool { return driver_->Ping(); }

  /// Returns true after an error that a connection does not survive, or when a transaction could
  /// not be taken back: it has to be reopened.
  [[nodiscard]] auto IsBroken() const noexcept -> bool { return broken_ || driver_->IsBroken(); }

  /// Returns true while there is a Transaction, or one that a statement has begun.
  [[nodiscard]] auto InTransaction() const noexcept -> bool {
    return in_transaction_ || driver_->InTransaction();
  }

  /// Cuts off the statements and rows that are still held; for DbPool.
  void CutOff() noexcept;

  /// Hits are statements that didn't have to be prepared.
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
  std::unordered_set<PreparedSql*> prepared_;  // all there are, to be cut off
  LruCache<std::string, std::shared_ptr<PreparedSql>> cache_;
  bool in_transaction_ = false;
  bool transaction_failed_ = false;  // and can only be taken back
  bool broken_ = false;
};

/// Several statements that count together, or not at all.
///
/// After an error in it, other than kConstraint, kSyntax and kType, it can only be taken back: the
/// statements that follow fail, too (kMisuse). So they do after one that commits, as CREATE TABLE
/// does with MariaDB.
///
///   Transaction transaction(connection);
///   take.Execute(sum, from);
///   give.Execute(sum, to);     // if this throws, nothing was taken
///   transaction.Commit();
class Transaction {
 public:
  /// Begins it, and claims the right to write at once, where the database has only one: a
  /// transaction that reads first and then can't write has to be begun again.
  /// @param connection outlives it, and has no other
  /// @throws DbError kBusy, kUnavailable; kMisuse if there is one already
  explicit Transaction(DbConnection& connection) : connection_(connection) { connection.Begin(); }

  /// Takes it back, unless Commit() was called. If even that fails, the connection is broken.
  ~Transaction() {
    if (open_) {
      connection_.Rollback();
    }
  }

  Transaction(const Transaction&) = delete;
  auto operator=(const Transaction&) -> Transaction& = delete;

  /// Makes it count. When this returns, it is on disk, as far as the database is set up for that.
  /// @throws DbError, and nothing counts; but after kUnavailable and kTimeout nobody knows: only
  ///     the result may have been lost
  void Commit() {
    connection_.Commit();
    open_ = false;
  }

 private:
  DbConnection& connection_;
  bool open_ = true;
};

}  // namespace TURTLE_SERVER
