// MariaDbDatabase(), by MariaDB Connector/C.
// https://mariadb.com/kb/en/connector-c-prepared-statement-functions/
#ifdef TURTLE_WITH_MARIADB

#include "db/mariadb_database.h"

#include <mysql.h>

#include <cerrno>
#include <charconv>
#include <mutex>
#include <system_error>
#include <utility>

#include "db/mariadb_error.h"

namespace TURTLE_SERVER {

namespace {

// The character set that stands for bytes.
constexpr unsigned kBinary = 63;

// Client errors: the connection was lost while waiting for a result; a prepared statement's columns
// have changed.
constexpr unsigned kLost = 2013;
constexpr unsigned kOtherColumns = 2057;

struct CloseHandle {
  void operator()(MYSQL* handle) const noexcept { mysql_close(handle); }
};

struct CloseStatement {
  void operator()(MYSQL_STMT* handle) const noexcept { mysql_stmt_close(handle); }
};

struct FreeResult {
  void operator()(MYSQL_RES* result) const noexcept { mysql_free_result(result); }
};

// The part of a connection's state that its statements need, too.
struct Shared {
  std::unique_ptr<MYSQL, CloseHandle> handle;
  std::string name;
  std::size_t max_bytes = 1024;  // that the server accepts at once; no server has less
  bool broken = false;

  // Only errno distinguishes a silent server from one that has hung up. So it is set to 0 before
  // each call that waits.
  [[noreturn]] void Fail(unsigned code, std::string_view text, std::string_view where) {
    const bool in_vain = code == kLost && errno == ETIMEDOUT;
    broken = broken || IsMariaDbConnectionLost(code);
    if (in_vain) {
      throw DbError(DbErrorKind::kTimeout, where, "the server has not answered in time");
    }
    throw DbError(MariaDbErrorKind(code), where, MariaDbReason(code, text));
  }

  [[noreturn]] void Fail(std::string_view where) {
    Fail(mysql_errno(handle.get()), mysql_error(handle.get()), where);
  }
};

// The memory that a column is fetched into.
struct Cell {
  enum class Kind : std::uint8_t { kWhole, kNumber, kDecimal, kText, kBytes };

  Kind kind = Kind::kBytes;
  bool is_unsigned = false;
  std::int64_t whole = 0;
  double number = 0;
  std::string text;          // grows to the longest text
  unsigned long length = 0;  // NOLINT(google-runtime-int)
  my_bool is_null = 0;
  my_bool truncated = 0;
};

auto KindOf(const MYSQL_FIELD& field) noexcept -> Cell::Kind {
  switch (field.type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
      return Cell::Kind::kWhole;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
      return Cell::Kind::kNumber;
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL:  // the type of SUM() and of a product of whole numbers
      return field.decimals == 0 ? Cell::Kind::kDecimal : Cell::Kind::kText;
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_TIME:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP:
    case MYSQL_TYPE_JSON:
      return Cell::Kind::kText;
    default:
      return field.charsetnr == kBinary ? Cell::Kind::kBytes : Cell::Kind::kText;
  }
}

class MariaDbStatement : public DbDriverStatement {
 public:
  MariaDbStatement(Shared& shared, std::string_view sql) : shared_(shared), sql_(sql) { Prepare(); }

  [[nodiscard]] auto ParameterCount() const -> std::size_t override { return parameters_.size(); }

  void Start(const std::vector<DbValue>& values) override {
    std::size_t bytes = kParameterBytes;  // for the part before the first value
    for (std::size_t i = 0; i < values.size(); ++i) {
      Bind(values[i], parameters_[i]);
      bytes += parameters_[i].buffer_length + kParameterBytes;
    }
    if (bytes > shared_.max_bytes) {  // the server would hang up in the middle of it
      throw DbError(DbErrorKind::kConstraint, sql_,
                    "the values are larger than max_allowed_packet");
    }
    errno = 0;
    if (!parameters_.empty()) {
      Require(mysql_stmt_bind_param(statement_.get(), parameters_.data()) == 0);
    }
    const bool executed = mysql_stmt_execute(statement_.get()) == 0;
    if (!executed && mysql_stmt_errno(statement_.get()) == kOtherColumns) {
      Prepare();
      throw DbError(DbErrorKind::kBusy, sql_, "its table was altered");
    }
    Require(executed);
    outcome_ = {};
    columns_.clear();
    if (mysql_stmt_field_count(statement_.get()) == 0) {
      outcome_ = {mysql_stmt_affected_rows(statement_.get()),
                  static_cast<std::int64_t>(mysql_stmt_insert_id(statement_.get()))};
      return;
    }
    DescribeColumns();
    BindColumns();
    Require(mysql_stmt_store_result(statement_.get()) == 0);
  }

  auto Step() -> bool override {
    if (!columns_.empty() && std::exchange(has_moved_, false)) {
      BindResult();
    }
    const int code = columns_.empty() ? MYSQL_NO_DATA : mysql_stmt_fetch(statement_.get());
    if (code == MYSQL_NO_DATA) {
      Require(Drain());
      return false;
    }
    Require(code == 0 || code == MYSQL_DATA_TRUNCATED);
    FetchLongTexts();
    return true;
  }

  [[nodiscard]] auto Columns() const -> const std::vector<std::string>& override {
    return columns_;
  }

  [[nodiscard]] auto Column(std::size_t index) const -> DbValue override {
    const Cell& cell = cells_[index];
    if (cell.is_null != 0) {
      return nullptr;
    }
    const std::string_view text(cell.text.data(), cell.length);
    switch (cell.kind) {
      case Cell::Kind::kWhole:
        if (cell.is_unsigned && cell.whole < 0) {
          throw DbError(DbErrorKind::kType, sql_,
                        "column " + columns_[index] + " is larger than any std::int64_t");
        }
        return cell.whole;
      case Cell::Kind::kNumber:
        return cell.number;
      case Cell::Kind::kDecimal:
        return WholeOrText(text);
      case Cell::Kind::kText:
        return text;
      case Cell::Kind::kBytes:
        break;
    }
    return Blob{text};
  }

  [[nodiscard]] auto Outcome() const -> DbOutcome override { return outcome_; }

  void Reset() noexcept override {
    // The rows are in our memory, so the server need not be informed.
    static_cast<void>(mysql_stmt_free_result(statement_.get()));
    static_cast<void>(Drain());  // a failure here is reported by the next call
    cells_.clear();  // or each statement that is kept would keep the longest text it has read
  }

 private:
  static constexpr std::size_t kParameterBytes = 16;  // at most, besides a text: type, length

  // A procedure may return several results, and always a status at its end. All of it must be read,
  // or the next statement would read it.
  auto Drain() noexcept -> bool {
    errno = 0;
    while (mysql_stmt_more_results(statement_.get())) {
      if (mysql_stmt_next_result(statement_.get()) != 0) {
        return false;
      }
      const bool has_rows = mysql_stmt_field_count(statement_.get()) > 0;
      if (has_rows && mysql_stmt_free_result(statement_.get()) != 0) {
        return false;
      }
    }
    return true;
  }

  void Prepare() {
    errno = 0;
    statement_.reset();  // also reads the server's remaining data for it
    statement_.reset(mysql_stmt_init(shared_.handle.get()));
    if (!statement_) {
      throw DbError(DbErrorKind::kOther, sql_, "out of memory");
    }
    Require(mysql_stmt_prepare(statement_.get(), sql_.data(), sql_.size()) == 0);
    parameters_.resize(mysql_stmt_param_count(statement_.get()));
  }

  void Require(bool success) {
    if (!success) {
      shared_.Fail(mysql_stmt_errno(statement_.get()), mysql_stmt_error(statement_.get()), sql_);
    }
  }

  // Points to `value`, and to the memory that it borrows: it is sent before Start() returns. The
  // library does not write to it, although its types would allow that.
  static void Bind(const DbValue& value, MYSQL_BIND& bind) {
    bind = {};
    const auto text = [&bind](std::string_view bytes, enum_field_types type) {
      bind.buffer_type = type;
      bind.buffer = const_cast<char*>(bytes.empty() ? "" : bytes.data());  // a null pointer is NULL
      bind.buffer_length = bytes.size();
    };
    if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      bind.buffer_type = MYSQL_TYPE_LONGLONG;
      bind.buffer = const_cast<std::int64_t*>(number);
    } else if (const auto* const real = std::get_if<double>(&value)) {
      bind.buffer_type = MYSQL_TYPE_DOUBLE;
      bind.buffer = const_cast<double*>(real);
    } else if (const auto* const words = std::get_if<std::string_view>(&value)) {
      text(*words, MYSQL_TYPE_STRING);
    } else if (const auto* const blob = std::get_if<Blob>(&value)) {
      text(blob->bytes, MYSQL_TYPE_BLOB);
    } else {
      bind.buffer_type = MYSQL_TYPE_NULL;
    }
  }

  // Runs each time, because the table may have been altered since.
  void DescribeColumns() {
    const std::unique_ptr<MYSQL_RES, FreeResult> description(
        mysql_stmt_result_metadata(statement_.get()));
    Require(description != nullptr);
    const unsigned count = mysql_num_fields(description.get());
    const MYSQL_FIELD* const fields = mysql_fetch_fields(description.get());
    cells_.resize(count);
    for (unsigned i = 0; i < count; ++i) {
      columns_.emplace_back(fields[i].name, fields[i].name_length);
      cells_[i].kind = KindOf(fields[i]);
      cells_[i].is_unsigned = (fields[i].flags & UNSIGNED_FLAG) != 0;
    }
  }

  void BindColumns() {
    binds_.assign(cells_.size(), {});
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      Cell& cell = cells_[i];
      MYSQL_BIND& bind = binds_[i];
      bind.length = &cell.length;
      bind.is_null = &cell.is_null;
      bind.error = &cell.truncated;
      if (cell.kind == Cell::Kind::kWhole) {
        bind.buffer_type = MYSQL_TYPE_LONGLONG;
        bind.buffer = &cell.whole;
        bind.is_unsigned = cell.is_unsigned ? 1 : 0;
      } else if (cell.kind == Cell::Kind::kNumber) {
        bind.buffer_type = MYSQL_TYPE_DOUBLE;
        bind.buffer = &cell.number;
      } else {
        bind.buffer_type = cell.kind == Cell::Kind::kBytes ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
        bind.buffer = cell.text.data();
        bind.buffer_length = cell.text.size();
      }
    }
    has_moved_ = false;
    BindResult();
  }

  void BindResult() { Require(mysql_stmt_bind_result(statement_.get(), binds_.data()) == 0); }

  // A text's length is known only after the fetch. Texts that did not fit are fetched again, and
  // the memory is kept for the next row. It is bound at the next fetch: this row's lengths are
  // needed until then, and some versions of the library reset them to 0 when they bind.
  void FetchLongTexts() {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      Cell& cell = cells_[i];
      const bool is_text = cell.kind != Cell::Kind::kWhole && cell.kind != Cell::Kind::kNumber;
      if (is_text && cell.is_null == 0 && cell.length > cell.text.size()) {
        const auto length = cell.length;
        cell.text.resize(length);
        binds_[i].buffer = cell.text.data();
        binds_[i].buffer_length = cell.text.size();
        has_moved_ = true;
        Require(mysql_stmt_fetch_column(statement_.get(), &binds_[i], static_cast<unsigned>(i),
                                        0) == 0);
        cell.length = length;
      }
    }
  }

  static auto WholeOrText(std::string_view digits) -> DbValue {
    std::int64_t number = 0;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool whole = error == std::errc() && stop == digits.data() + digits.size();
    return whole ? DbValue(number) : DbValue(digits);
  }

  Shared& shared_;
  const std::string sql_;
  std::unique_ptr<MYSQL_STMT, CloseStatement> statement_;
  std::vector<MYSQL_BIND> parameters_;
  std::vector<std::string> columns_;
  std::vector<Cell> cells_;
  std::vector<MYSQL_BIND> binds_;
  bool has_moved_ = false;  // a text has moved since it was bound
  DbOutcome outcome_;
};

class MariaDbDriver : public DbDriver {
 public:
  MariaDbDriver(const MariaDbOptions& options, std::string name) {
    static std::once_flag library;  // mysql_init() would do it, but not on two threads at once
    std::call_once(library, [] {
      if (mysql_server_init(0, nullptr, nullptr) != 0) {
        throw DbError(DbErrorKind::kOther, "MariaDB", "its library does not start");
      }
    });
    shared_.name = std::move(name);
    shared_.handle.reset(mysql_init(nullptr));
    if (!shared_.handle) {
      throw DbError(DbErrorKind::kOther, shared_.name, "out of memory");
    }
    Configure(options);
    Connect(options);
    SetSession(options);
  }

  [[nodiscard]] auto Dialect() const noexcept -> DbDialect override { return DbDialect::kMariaDb; }

  auto Prepare(std::string_view sql) -> std::unique_ptr<DbDriverStatement> override {
    return std::make_unique<MariaDbStatement>(shared_, sql);
  }

  void Begin() override { Run("START TRANSACTION"); }

  void Commit() override { Run("COMMIT"); }

  void Rollback() override { Run("ROLLBACK"); }

  // As the server reported at the end of its last response.
  [[nodiscard]] auto InTransaction() const noexcept -> bool override {
    const unsigned status = shared_.handle->server_status;
    return (status & SERVER_STATUS_IN_TRANS) != 0 || (status & SERVER_STATUS_AUTOCOMMIT) == 0;
  }

  [[nodiscard]] auto Ping() noexcept -> bool override {
    shared_.broken = shared_.broken || mysql_ping(shared_.handle.get()) != 0;
    return !shared_.broken;
  }

  [[nodiscard]] auto IsBroken() const noexcept -> bool override { return shared_.broken; }

 private:
  void Configure(const MariaDbOptions& options) {
    const auto set = [this](mysql_option option, const void* value) {
      if (mysql_options(shared_.handle.get(), option, value) != 0) {
        throw DbError(DbErrorKind::kOther, shared_.name,
                      "its library lacks option " + std::to_string(option));
      }
    };
    const auto seconds = [&set](mysql_option option, std::chrono::seconds time) {
      const auto value = static_cast<unsigned>(time.count());
      set(option, &value);
    };
    const my_bool off = 0;
    const unsigned no = 0;
    set(MYSQL_OPT_RECONNECT, &off);
    set(MYSQL_OPT_LOCAL_INFILE, &no);  // otherwise a server could request any file that we can read
    set(MYSQL_SET_CHARSET_NAME, "utf8mb4");
    seconds(MYSQL_OPT_CONNECT_TIMEOUT, options.connect_timeout);
    seconds(MYSQL_OPT_READ_TIMEOUT, options.read_timeout);
    seconds(MYSQL_OPT_WRITE_TIMEOUT, options.write_timeout);
  }

  void Connect(const MariaDbOptions& options) {
    const auto text = [](const std::string& value) {
      return value.empty() ? nullptr : value.c_str();
    };
    if ((options.client_flag & CLIENT_MULTI_STATEMENTS) != 0) {
      throw DbError(DbErrorKind::kMisuse, shared_.name, "one statement at a time");
    }
    errno = 0;
    const MYSQL* const connected = mysql_real_connect(
        shared_.handle.get(), options.unix_socket.empty() ? options.address.c_str() : nullptr,
        text(options.user), text(options.password), text(options.database_name), options.port,
        text(options.unix_socket), options.client_flag | CLIENT_FOUND_ROWS);
    if (connected == nullptr) {
      shared_.Fail(shared_.name);
    }
  }

  void SetSession(const MariaDbOptions& options) {
    Run("SET SESSION autocommit = 1, sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')");
    if (mariadb_connection(shared_.handle.get()) != 0) {  // MySQL has another one, for SELECT only
      Run("SET SESSION max_statement_time = " + std::to_string(options.timeout.count()) +
          " / 1000");
    }
    MariaDbStatement limit(shared_, "SELECT @@max_allowed_packet");
    limit.Start({});
    if (limit.Step()) {
      shared_.max_bytes = static_cast<std::size_t>(std::get<std::int64_t>(limit.Column(0)));
    }
  }

  // Runs a statement without values, unprepared.
  void Run(std::string_view sql) {
    errno = 0;
    if (mysql_real_query(shared_.handle.get(), sql.data(), sql.size()) != 0) {
      shared_.Fail(sql);
    }
  }

  Shared shared_;
};

class MariaDbServer : public Database {
 public:
  explicit MariaDbServer(MariaDbOptions options) : options_(std::move(options)) {}

  auto Open() -> std::unique_ptr<DbConnection> override {
    return std::make_unique<DbConnection>(std::make_unique<MariaDbDriver>(options_, Name()),
                                          options_.max_statements);
  }

  [[nodiscard]] auto Name() const -> std::string override {
    const std::uint16_t port = options_.port == 0 ? std::uint16_t{MYSQL_PORT} : options_.port;
    return "MariaDB" + (options_.database_name.empty() ? "" : " " + options_.database_name) +
           " at " +
           (options_.unix_socket.empty() ? options_.address + ":" + std::to_string(port)
                                         : options_.unix_socket);
  }

 private:
  const MariaDbOptions options_;
};

}  // namespace

auto MariaDbDatabase(MariaDbOptions options) -> std::unique_ptr<Database> {
  return std::make_unique<MariaDbServer>(std::move(options));
}

}  // namespace TURTLE_SERVER

#endif  // TURTLE_WITH_MARIADB
