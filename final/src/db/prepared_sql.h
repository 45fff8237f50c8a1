// A statement that is kept prepared: what Statement, Rows and the connection's cache share.
//
// Thread: that of the connection.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "db/db_connection.h"
#include "db/db_driver.h"

namespace TURTLE_SERVER {

/// A driver's statement, until its connection takes it away.
class PreparedSql {
 public:
  /// @param connection knows it until it goes
  /// @param sql its text
  /// @param driver_statement what runs
  PreparedSql(DbConnection& connection, std::string sql,
              std::unique_ptr<DbDriverStatement> driver_statement)
      : connection_(&connection), sql_(std::move(sql)), statement_(std::move(driver_statement)) {
    connection.prepared_.insert(this);
  }

  PreparedSql(const PreparedSql&) = delete;
  auto operator=(const PreparedSql&) -> PreparedSql& = delete;

  ~PreparedSql() {
    if (connection_ != nullptr) {
      connection_->prepared_.erase(this);
    }
  }

  /// Its text.
  [[nodiscard]] auto Text() const noexcept -> const std::string& { return sql_; }

  /// The driver's statement. Throws DbError kMisuse when it was taken away.
  [[nodiscard]] auto Driver() const -> DbDriverStatement& {
    if (!statement_) {
      throw DbError(DbErrorKind::kMisuse, sql_, "its connection has gone");
    }
    return *statement_;
  }

  /// Begins it.
  void Start(const std::vector<DbValue>& values) {
    DbDriverStatement& driver = Driver();
    connection_->RequireTransaction(sql_);
    if (busy_) {
      throw DbError(DbErrorKind::kMisuse, sql_, "its rows are still being read");
    }
    if (values.size() != driver.ParameterCount()) {
      throw DbError(DbErrorKind::kType, sql_,
                    std::to_string(driver.ParameterCount()) + " values are wanted, " +
                        std::to_string(values.size()) + " were given");
    }
    Try([&] { driver.Start(values); });
    busy_ = true;
  }

  /// Goes to the next row; false: there is none.
  auto Step() -> bool {
    DbDriverStatement& driver = Driver();
    bool found = false;
    Try([&] { found = driver.Step(); });
    return found;
  }

  /// Ends it.
  void Reset() noexcept {
    busy_ = false;
    if (statement_) {
      statement_->Reset();
    }
  }

  /// True if anybody but the cache has it; for DbConnection::CutOff().
  [[nodiscard]] auto IsHeld() const noexcept -> bool { return held_; }

  /// As above.
  void SetHeld(bool held) noexcept { held_ = held; }

  /// Takes the driver's statement away.
  void CutOff() noexcept {
    connection_ = nullptr;
    statement_.reset();
  }

 private:
  // Its connection hears of an error.
  template <class Function>
  void Try(const Function& function) {
    try {
      function();
    } catch (const DbError& error) {
      connection_->TakeNote(error);
      throw;
    }
  }

  DbConnection* connection_;
  const std::string sql_;
  std::unique_ptr<DbDriverStatement> statement_;
  bool busy_ = false;
  bool held_ = false;
};

}  // namespace TURTLE_SERVER
