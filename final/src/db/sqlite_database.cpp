// SqliteDatabase(), by sqlite3.h. https://www.sqlite.org/c3ref/intro.html
#ifdef TURTLE_WITH_SQLITE

#include "db/sqlite_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace TURTLE_SERVER {

namespace {

using Clock = std::chrono::steady_clock;

// The lowest byte of SQLite's extended codes is their kind.
auto KindOf(int code) noexcept -> DbErrorKind {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return DbErrorKind::kBusy;
    case SQLITE_INTERRUPT:
      return DbErrorKind::kTimeout;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
      return DbErrorKind::kConstraint;
    case SQLITE_FULL:
      return DbErrorKind::kFull;
    case SQLITE_ERROR:
    case SQLITE_RANGE:
      return DbErrorKind::kSyntax;
    case SQLITE_CANTOPEN:
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_IOERR:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_PROTOCOL:
      return DbErrorKind::kUnavailable;
    case SQLITE_MISUSE:
      return DbErrorKind::kMisuse;
    default:
      return DbErrorKind::kOther;
  }
}

struct CloseDatabase {
  void operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
};

struct Finalize {
  void operator()(sqlite3_stmt* handle) const noexcept { sqlite3_finalize(handle); }
};

// Returns true if `sql` contains no further statement. White space, semicolons and comments don't
// count; for the library, the end closes an open comment.
auto IsBlank(std::string_view sql) noexcept -> bool {
  for (;;) {
    sql.remove_prefix(std::min(sql.find_first_not_of(" \t\n\f\r;"), sql.size()));
    if (sql.empty()) {
      return true;
    }
    const bool is_line = sql.substr(0, 2) == "--";
    if (!is_line && sql.substr(0, 2) != "/*") {
      return false;
    }
    const std::size_t end = is_line ? sql.find('\n') : sql.find("*/", 2);
    if (end == std::string_view::npos) {
      return true;
    }
    sql.remove_prefix(end + (is_line ? 1 : 2));
  }
}

// The part of a connection's state that its statements need, too.
struct Shared {
  std::unique_ptr<sqlite3, CloseDatabase> handle;
  std::chrono::milliseconds timeout{};
  Clock::time_point deadline = Clock::time_point::max();  // of the statement being stepped
  bool broken = false;
  bool* inserts = nullptr;  // for the statement being prepared: does it insert?
  sqlite3_int64 id_before = 0;
  bool has_id_before = false;  // a row with that id was inserted by the current statement

  [[noreturn]] void Fail(int code, std::string_view where) {
    const DbErrorKind kind = KindOf(code);
    broken = broken || kind == DbErrorKind::kUnavailable;
    if (kind == DbErrorKind::kTimeout) {
      throw DbError(kind, where, "it took too long");
    }
    throw DbError(kind, where, handle ? sqlite3_errmsg(handle.get()) : sqlite3_errstr(code));
  }

  // A null pointer may be the value, or mean a lack of memory: only the code tells which.
  void RequireMemory(const void* result, std::string_view where) {
    constexpr int kKind = 0xff;
    if (result == nullptr && (sqlite3_errcode(handle.get()) & kKind) == SQLITE_NOMEM) {
      Fail(SQLITE_NOMEM, where);
    }
  }

  // While a statement runs, its functions may quote their arguments: "bad JSON path: '…'". All
  // other texts name tables and columns, but contain no values.
  [[noreturn]] void FailRunning(int code, std::string_view where) {
    if (code == SQLITE_ERROR) {
      throw DbError(KindOf(code), where, sqlite3_errstr(code));
    }
    Fail(code, where);
  }
};

class SqliteStatement : public DbDriverStatement {
 public:
  SqliteStatement(Shared& shared, std::string_view sql) : shared_(shared) {
    sqlite3_stmt* statement = nullptr;
    const char* rest = nullptr;
    shared_.inserts = &inserts_;
    const int code =
        sqlite3_prepare_v3(shared_.handle.get(), sql.data(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &statement, &rest);
    shared_.inserts = nullptr;
    statement_.reset(statement);
    if (code != SQLITE_OK) {
      shared_.Fail(code, sql);
    }
    if (!statement_ || !IsBlank(sql.substr(static_cast<std::size_t>(rest - sql.data())))) {
      throw DbError(DbErrorKind::kSyntax, sql, "exactly one statement is wanted");
    }
  }

  [[nodiscard]] auto ParameterCount() const -> std::size_t override {
    return static_cast<std::size_t>(sqlite3_bind_parameter_count(statement_.get()));
  }

  void Start(const std::vector<DbValue>& values) override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int code = Bind(static_cast<int>(i) + 1, values[i]);
      if (code != SQLITE_OK) {
        Reset();
        shared_.Fail(code, Text());
      }
    }
    end_ = Clock::now() + Bounded(shared_.timeout);
    changes_ = sqlite3_total_changes64(shared_.handle.get());
    last_id_ = 0;
    started_ = true;
  }

  auto Step() -> bool override {
    shared_.deadline = end_;
    shared_.id_before = sqlite3_last_insert_rowid(shared_.handle.get());
    shared_.has_id_before = false;
    const int code = sqlite3_step(statement_.get());
    shared_.deadline = Clock::time_point::max();
    if (std::exchange(started_, false)) {
      ReadLastId();  // all rows are inserted by the first step, even with RETURNING
      // Only now: if a table was altered, the statement was prepared again.
      ReadColumns();
    }
    if (code == SQLITE_ROW) {
      return true;
    }
    if (code != SQLITE_DONE) {
      shared_.FailRunning(code, Text());
    }
    return false;
  }

  [[nodiscard]] auto Columns() const -> const std::vector<std::string>& override {
    return columns_;
  }

  [[nodiscard]] auto Column(std::size_t index) const -> DbValue override {
    const int column = static_cast<int>(index);
    sqlite3_stmt* const row = statement_.get();
    switch (sqlite3_column_type(row, column)) {
      case SQLITE_INTEGER:
        return std::int64_t{sqlite3_column_int64(row, column)};
      case SQLITE_FLOAT:
        return sqlite3_column_double(row, column);
      case SQLITE_TEXT: {
        const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
        shared_.RequireMemory(text, Text());
        return std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
      }
      case SQLITE_BLOB: {
        const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
        shared_.RequireMemory(bytes, Text());
        return Blob{{bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, column))}};
      }
      default:
        return nullptr;
    }
  }

  [[nodiscard]] auto Outcome() const -> DbOutcome override {
    sqlite3* const handle = shared_.handle.get();
    if (sqlite3_total_changes64(handle) == changes_) {
      return {};  // else it would report the effect of the previous statement
    }
    return {static_cast<std::uint64_t>(sqlite3_changes64(handle)), last_id_};
  }

  void Reset() noexcept override {
    sqlite3_reset(statement_.get());  // its result is that of the last step, which was reported
    sqlite3_clear_bindings(statement_.get());
  }

 private:
  [[nodiscard]] auto Text() const -> std::string_view { return sqlite3_sql(statement_.get()); }

  // sqlite3_last_insert_rowid() is the id of the last insert: after an UPDATE, it belongs to
  // another statement's row. It is this statement's if it has changed, or if a row with the same id
  // was inserted. After the statement it ignores rows that triggers inserted.
  void ReadLastId() {
    const sqlite3_int64 id = sqlite3_last_insert_rowid(shared_.handle.get());
    if (inserts_ && (id != shared_.id_before || shared_.has_id_before)) {
      last_id_ = id;
    }
  }

  // The values may be gone when the first row is fetched, so they are copied.
  auto Bind(int index, const DbValue& value) noexcept -> int {
    sqlite3_stmt* const to = statement_.get();
    if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      return sqlite3_bind_int64(to, index, *number);
    }
    if (const auto* const number = std::get_if<double>(&value)) {
      return sqlite3_bind_double(to, index, *number);
    }
    if (const auto* const text = std::get_if<std::string_view>(&value)) {
      // An empty view may have a null pointer, which would mean NULL.
      return sqlite3_bind_text64(to, index, text->empty() ? "" : text->data(), text->size(),
                                 SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    if (const auto* const blob = std::get_if<Blob>(&value)) {
      return sqlite3_bind_blob64(to, index, blob->bytes.empty() ? "" : blob->bytes.data(),
                                 blob->bytes.size(), SQLITE_TRANSIENT);
    }
    return sqlite3_bind_null(to, index);
  }

  void ReadColumns() {
    const int count = sqlite3_column_count(statement_.get());
    columns_.clear();
    for (int i = 0; i < count; ++i) {
      const char* const name = sqlite3_column_name(statement_.get(), i);
      if (name == nullptr) {  // each column has one
        columns_.clear();
        shared_.Fail(SQLITE_NOMEM, Text());
      }
      columns_.emplace_back(name);
    }
  }

  Shared& shared_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool inserts_ = false;
  std::int64_t last_id_ = 0;
  std::vector<std::string> columns_;
  Clock::time_point end_;
  sqlite3_int64 changes_ = 0;  // of all statements before this one
  bool started_ = false;
};

class SqliteDriver : public DbDriver {
 public:
  explicit SqliteDriver(const SqliteOptions& options) : shared_{{}, options.timeout} {
    constexpr int kSteps = 10'000;  // of SQLite's virtual machine, well under a millisecond
    if (options.file.empty()) {     // to SQLite, a private file that is deleted on close
      throw DbError(DbErrorKind::kMisuse, "SQLite", "the file has no name");
    }
    if (options.file.find('\0') != std::string::npos) {
      throw DbError(DbErrorKind::kMisuse, "SQLite", "the file's name has a NUL byte in it");
    }
    sqlite3* handle = nullptr;
    // NOMUTEX: the pool ensures that only one thread at a time is here.
    const int code = sqlite3_open_v2(
        options.file.c_str(), &handle,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
        nullptr);
    shared_.handle.reset(handle);
    const auto require = [&](int result) {
      if (result != SQLITE_OK) {
        shared_.Fail(result, "SQLite " + options.file);
      }
    };
    require(code);
    require(sqlite3_busy_timeout(
        handle, static_cast<int>(std::min<std::int64_t>(options.busy.count(), INT_MAX))));
    sqlite3_progress_handler(
        handle, kSteps,
        [](void* shared) { return Clock::now() >= static_cast<Shared*>(shared)->deadline ? 1 : 0; },
        &shared_);
    WatchInserts();
    // A double-quoted name that is not a column would be taken for a text.
    require(sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr));
    require(sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr));
    EnterWal(options.busy);
    Run(options.sync == SqliteSync::kFull ? "PRAGMA synchronous = FULL"
                                          : "PRAGMA synchronous = NORMAL");
    Run("PRAGMA foreign_keys = ON");
  }

  [[nodiscard]] auto Dialect() const noexcept -> DbDialect override { return DbDialect::kSqlite; }

  auto Prepare(std::string_view sql) -> std::unique_ptr<DbDriverStatement> override {
    return std::make_unique<SqliteStatement>(shared_, sql);
  }

  // IMMEDIATE: a transaction that has only read so far, and wants to write after another has, can't
  // wait. It would see old data, so it must fail.
  void Begin() override { Run("BEGIN IMMEDIATE"); }

  void Commit() override { Run("COMMIT"); }

  void Rollback() override {
    if (InTransaction()) {  // else an error has already done it
      Run("ROLLBACK");
    }
  }

  [[nodiscard]] auto InTransaction() const noexcept -> bool override {
    return sqlite3_get_autocommit(shared_.handle.get()) == 0;
  }

  [[nodiscard]] auto Ping() noexcept -> bool override { return !shared_.broken; }

  [[nodiscard]] auto IsBroken() const noexcept -> bool override { return shared_.broken; }

 private:
  // For SqliteStatement::ReadLastId().
  void WatchInserts() {
    sqlite3_set_authorizer(
        shared_.handle.get(),
        [](void* context, int action, const char*, const char*, const char*, const char* trigger) {
          bool* const inserts = static_cast<Shared*>(context)->inserts;
          if (inserts != nullptr && action == SQLITE_INSERT && trigger == nullptr) {
            *inserts = true;
          }
          return SQLITE_OK;
        },
        &shared_);
    sqlite3_update_hook(
        shared_.handle.get(),
        [](void* context, int action, const char*, const char*, sqlite3_int64 id) {
          auto& shared = *static_cast<Shared*>(context);
          if (action == SQLITE_INSERT && id == shared.id_before) {
            shared.has_id_before = true;
          }
        },
        &shared_);
  }

  // A new file needs exclusive access for this. Of two connections that start at the same time,
  // each would wait for the other, so SQLite returns SQLITE_BUSY at once: its busy timeout has no
  // effect here.
  void EnterWal(std::chrono::milliseconds busy) {
    const Clock::time_point end = Clock::now() + Bounded(busy);
    for (;;) {
      try {
        Run("PRAGMA journal_mode = WAL");
        return;
      } catch (const DbError& error) {
        if (error.Kind() != DbErrorKind::kBusy || Clock::now() >= end) {
          throw;
        }
      }
      sqlite3_sleep(1);  // the other connection needs a moment
    }
  }

  void Run(std::string_view sql) {
    SqliteStatement statement(shared_, sql);
    statement.Start({});
    while (statement.Step()) {
    }
  }

  Shared shared_;
};

class SqliteFile : public Database {
 public:
  explicit SqliteFile(SqliteOptions options) : options_(std::move(options)) {}

  auto Open() -> std::unique_ptr<DbConnection> override {
    return std::make_unique<DbConnection>(std::make_unique<SqliteDriver>(options_),
                                          options_.max_statements);
  }

  [[nodiscard]] auto Name() const -> std::string override { return "SQLite " + options_.file; }

 private:
  const SqliteOptions options_;
};

}  // namespace

auto SqliteDatabase(SqliteOptions options) -> std::unique_ptr<Database> {
  return std::make_unique<SqliteFile>(std::move(options));
}

}  // namespace TURTLE_SERVER

#endif  // TURTLE_WITH_SQLITE
