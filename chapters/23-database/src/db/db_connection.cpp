#include "db/db_connection.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace TURTLE_SERVER {

// --- PreparedSql --------------------------------------------------------------------------------

// A statement that is kept prepared, shared by Statement, Rows and the connection's cache. It has
// the driver's statement until its connection takes that away.
class PreparedSql {
 public:
  // @param connection knows it until it is destroyed
  // @param sql its text
  // @param driver_statement runs it
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

  // Returns its text.
  [[nodiscard]] auto Text() const noexcept -> const std::string& { return sql_; }

  // Returns the driver's statement. Throws DbError kMisuse if it was taken away.
  [[nodiscard]] auto Driver() const -> DbDriverStatement& {
    if (!statement_) {
      throw DbError(DbErrorKind::kMisuse, sql_, "its connection is gone");
    }
    return *statement_;
  }

  // Starts it.
  void Start(const std::vector<DbValue>& values) {
    DbDriverStatement& driver = Driver();
    connection_->RequireTransaction(sql_);
    if (busy_) {
      throw DbError(DbErrorKind::kMisuse, sql_, "its rows are still being read");
    }
    if (values.size() != driver.ParameterCount()) {
      throw DbError(DbErrorKind::kType, sql_,
                    std::to_string(driver.ParameterCount()) + " values are required, " +
                        std::to_string(values.size()) + " were given");
    }
    Try([&] { driver.Start(values); });
    busy_ = true;
  }

  // Goes to the next row; returns false if there is none.
  auto Step() -> bool {
    DbDriverStatement& driver = Driver();
    bool found = false;
    Try([&] { found = driver.Step(); });
    return found;
  }

  // Ends the run.
  void Reset() noexcept {
    busy_ = false;
    if (statement_) {
      statement_->Reset();
    }
  }

  // Returns true if it is held outside the cache; for DbConnection::CutOff().
  [[nodiscard]] auto IsHeld() const noexcept -> bool { return held_; }

  // As above.
  void SetHeld(bool held) noexcept { held_ = held; }

  // Takes the driver's statement away.
  void CutOff() noexcept {
    connection_ = nullptr;
    statement_.reset();
  }

 private:
  // Informs its connection of an error.
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

// --- Row, Rows, Statement -----------------------------------------------------------------------

auto Row::Size() const -> std::size_t { return statement_.Driver().Columns().size(); }

auto Row::At(std::size_t column) const -> DbValue {
  if (column >= Size()) {
    throw DbError(DbErrorKind::kType, statement_.Text(),
                  "there is no column " + std::to_string(column));
  }
  return statement_.Driver().Column(column);
}

auto Row::IndexOf(std::string_view name) const -> std::size_t {
  const std::vector<std::string>& names = statement_.Driver().Columns();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw DbError(DbErrorKind::kType, statement_.Text(), "there is no column " + std::string(name));
  }
  return static_cast<std::size_t>(found - names.begin());
}

void Row::FailConversion(std::size_t column, const DbValue& value) const {
  throw DbError(DbErrorKind::kType, statement_.Text(),
                "column " + std::to_string(column) + ", " +
                    statement_.Driver().Columns().at(column) + ", is " +
                    std::string(TypeName(value)) + ", and was read as something else");
}

Rows::Rows(std::shared_ptr<PreparedSql> statement)
    : statement_(std::move(statement)), row_(*statement_) {
  try {
    first_ = statement_->Step();
    ended_ = !first_;
  } catch (...) {
    statement_->Reset();
    throw;
  }
}

Rows::~Rows() {
  if (statement_) {  // else it was moved from
    statement_->Reset();
  }
}

auto Rows::Next() -> const Row* {
  if (ended_) {
    return nullptr;
  }
  if (!std::exchange(first_, false)) {
    ended_ = true;  // even after an error: another call might start the statement again
    ended_ = !statement_->Step();
  }
  return ended_ ? nullptr : &row_;
}

auto Statement::QueryWith(const std::vector<DbValue>& values) -> Rows {
  prepared_->Start(values);
  return Rows(prepared_);
}

auto Statement::ExecuteWith(const std::vector<DbValue>& values) -> DbOutcome {
  Rows rows = QueryWith(values);
  while (rows.Next() != nullptr) {
  }
  return prepared_->Driver().Outcome();
}

// --- DbConnection -------------------------------------------------------------------------------

namespace {

// The cache counts bytes. Entries that add no weight all weigh the same, so this many of them
// fit.
auto BytesFor(std::size_t statements) -> std::size_t {
  return statements * LruCache<std::string, std::shared_ptr<PreparedSql>>::OverheadBytes();
}

}  // namespace

DbConnection::DbConnection(std::unique_ptr<DbDriver> driver, std::size_t max_statements)
    : driver_(std::move(driver)), cache_(BytesFor(max_statements), BytesFor(1)) {}

DbConnection::~DbConnection() {
  CutOff();
  cache_.Clear();
}

auto DbConnection::Prepare(const Sql& sql) -> Statement {
  std::shared_ptr<PreparedSql>* const kept = cache_.Find(sql.Text());
  // Another caller may be reading its rows; then there are two for a while.
  if (kept != nullptr && kept->use_count() == 1) {
    return Statement(*kept);
  }
  auto prepared =
      std::make_shared<PreparedSql>(*this, std::string(sql.Text()), driver_->Prepare(sql.Text()));
  cache_.Insert(std::string(sql.Text()), prepared, 0);
  return Statement(std::move(prepared));
}

void DbConnection::CutOff() noexcept {
  for (PreparedSql* const prepared : prepared_) {
    prepared->SetHeld(true);  // one outside the cache is held elsewhere
  }
  cache_.ForEach([](const std::string&, const std::shared_ptr<PreparedSql>& prepared) {
    prepared->SetHeld(prepared.use_count() > 1);
  });
  cache_.EraseIf([](const std::string&, const std::shared_ptr<PreparedSql>& prepared) {
    return prepared->IsHeld();
  });
  for (auto each = prepared_.begin(); each != prepared_.end();) {
    PreparedSql& prepared = **each;
    each = prepared.IsHeld() ? prepared_.erase(each) : std::next(each);
    if (prepared.IsHeld()) {
      prepared.CutOff();
    }
  }
}

void DbConnection::Begin() {
  if (in_transaction_) {
    throw DbError(DbErrorKind::kMisuse, "BEGIN", "the connection has a transaction already");
  }
  driver_->Begin();
  in_transaction_ = true;
  transaction_failed_ = false;
}

void DbConnection::Commit() {
  if (!in_transaction_) {
    throw DbError(DbErrorKind::kMisuse, "COMMIT", "the transaction is over");
  }
  RequireTransaction("COMMIT");
  driver_->Commit();
  in_transaction_ = false;
}

// Without this check, a statement of the transaction could take effect alone.
void DbConnection::RequireTransaction(std::string_view where) const {
  if (in_transaction_ && (transaction_failed_ || !driver_->InTransaction())) {
    throw DbError(DbErrorKind::kMisuse, where,
                  "its transaction is over: an error has ended it, or a statement that commits");
  }
}

// Whether an error rolls back the statement or the whole transaction depends on the database and
// its settings. It doesn't matter if only the rollback can follow.
void DbConnection::TakeNote(const DbError& error) noexcept {
  transaction_failed_ = transaction_failed_ || (error.Kind() != DbErrorKind::kConstraint &&
                                                error.Kind() != DbErrorKind::kSyntax &&
                                                error.Kind() != DbErrorKind::kType);
}

void DbConnection::Rollback() noexcept {
  in_transaction_ = false;
  try {
    driver_->Rollback();
  } catch (const std::exception&) {
    broken_ = true;  // closing it rolls back everything uncommitted
  }
}

}  // namespace TURTLE_SERVER
