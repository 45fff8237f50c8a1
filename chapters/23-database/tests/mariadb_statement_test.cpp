// Turtle relies only on the documented behaviour of prepared statements in Connector/C. Its
// versions differ in the rest: in 3.3.19 mysql_stmt_bind_result() sets the lengths of the columns
// to 0, in 3.3.20 it leaves them as they are. From 3.4 on mysql_stmt_free_result() fails if there
// is no result, as at the end of a procedure.
//
// The functions below replace the library's: a program's own come first when it is linked.
// https://mariadb.com/kb/en/mysql_stmt_fetch/
#include <gtest/gtest.h>

#include "db/mariadb_database.h"
#include "support/db_failure.h"

#ifdef TURTLE_WITH_MARIADB

#include <mysql.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using Value = std::optional<std::string>;  // none: NULL
using Table = std::vector<std::vector<Value>>;

constexpr unsigned kOutOfMemory = 2008;  // of the client library

// A number, a text and bytes in each row, as a server sends them to this stand-in of the library.
struct Library {
  bool bind_clears_lengths = false;
  std::string failing;  // the function that fails
  Table table;
  bool is_procedure = false;  // its rows are followed by its outcome, which has no columns

  bool has_ended = false;
  bool asks_for_limit = false;
  std::vector<MYSQL_BIND> bound;  // a copy, as in the library
  std::size_t next_row = 0;

  [[nodiscard]] auto Fails(std::string_view function) const -> bool {
    return failing == function && !asks_for_limit;
  }
};

Library library;
MYSQL_STMT statement;
MYSQL_RES description;
MYSQL_FIELD fields[3];

// Writes as much of a text as there is room for, and always its length. @return false: truncated
auto Write(const Value& value, const MYSQL_BIND& bind) -> bool {
  *bind.is_null = value ? 0 : 1;
  if (!value) {
    return true;
  }
  if (bind.buffer_type == MYSQL_TYPE_LONGLONG) {
    const std::int64_t number = std::stoll(*value);
    std::memcpy(bind.buffer, &number, sizeof number);
    *bind.length = sizeof number;
    return true;
  }
  const std::size_t size = std::min<std::size_t>(value->size(), bind.buffer_length);
  std::copy_n(value->data(), size, static_cast<char*>(bind.buffer));
  *bind.length = value->size();
  *bind.error = size < value->size() ? 1 : 0;
  return *bind.error == 0;
}

auto Sent() -> const Table& {
  static const Table limit = {{"1048576"}};
  return library.asks_for_limit ? limit : library.table;
}

}  // namespace
}  // namespace TURTLE_SERVER

using TURTLE_SERVER::description;
using TURTLE_SERVER::fields;
using TURTLE_SERVER::library;
using TURTLE_SERVER::statement;

extern "C" {

MYSQL* STDCALL mysql_real_connect(MYSQL* handle, const char*, const char*, const char*, const char*,
                                  unsigned, const char*, unsigned long) {
  return handle;
}
int STDCALL mysql_real_query(MYSQL*, const char*, unsigned long) { return 0; }
my_bool STDCALL mariadb_connection(MYSQL*) { return 1; }

MYSQL_STMT* STDCALL mysql_stmt_init(MYSQL*) { return &statement; }
int STDCALL mysql_stmt_prepare(MYSQL_STMT*, const char* sql, unsigned long size) {
  library.asks_for_limit = std::string_view(sql, size) == "SELECT @@max_allowed_packet";
  return 0;
}
unsigned long STDCALL mysql_stmt_param_count(MYSQL_STMT*) { return 0; }
my_bool STDCALL mysql_stmt_bind_param(MYSQL_STMT*, MYSQL_BIND*) { return 0; }
int STDCALL mysql_stmt_execute(MYSQL_STMT*) {
  library.next_row = 0;
  library.has_ended = false;
  return 0;
}
unsigned STDCALL mysql_stmt_field_count(MYSQL_STMT*) {
  return library.has_ended ? 0 : library.asks_for_limit ? 1 : 3;
}
unsigned long long STDCALL mysql_stmt_affected_rows(MYSQL_STMT*) { return 0; }
unsigned long long STDCALL mysql_stmt_insert_id(MYSQL_STMT*) { return 0; }

MYSQL_RES* STDCALL mysql_stmt_result_metadata(MYSQL_STMT*) {
  return library.Fails("mysql_stmt_result_metadata") ? nullptr : &description;
}
unsigned STDCALL mysql_num_fields(MYSQL_RES*) { return mysql_stmt_field_count(&statement); }
MYSQL_FIELD* STDCALL mysql_fetch_fields(MYSQL_RES*) {
  constexpr unsigned kUtf8 = 45;
  constexpr unsigned kBinary = 63;
  const auto set = [](MYSQL_FIELD& field, const char* name, enum_field_types type,
                      unsigned characters) {
    field.name = const_cast<char*>(name);
    field.name_length = static_cast<unsigned>(std::strlen(name));
    field.type = type;
    field.charsetnr = characters;
  };
  set(fields[0], "id", MYSQL_TYPE_LONGLONG, kBinary);
  set(fields[1], "word", MYSQL_TYPE_VAR_STRING, kUtf8);
  set(fields[2], "bytes", MYSQL_TYPE_BLOB, kBinary);
  return fields;
}
void STDCALL mysql_free_result(MYSQL_RES*) {}

my_bool STDCALL mysql_stmt_bind_result(MYSQL_STMT*, MYSQL_BIND* binds) {
  if (library.Fails("mysql_stmt_bind_result")) {
    return 1;
  }
  library.bound.assign(binds, binds + mysql_stmt_field_count(&statement));
  for (const MYSQL_BIND& bind : library.bound) {
    if (library.bind_clears_lengths) {
      *bind.length = 0;
    }
  }
  return 0;
}
int STDCALL mysql_stmt_store_result(MYSQL_STMT*) {
  return library.Fails("mysql_stmt_store_result") ? 1 : 0;
}
int STDCALL mysql_stmt_fetch(MYSQL_STMT*) {
  if (library.Fails("mysql_stmt_fetch")) {
    return 1;
  }
  const auto& rows = TURTLE_SERVER::Sent();
  if (library.next_row == rows.size()) {
    return MYSQL_NO_DATA;
  }
  const auto& row = rows[library.next_row++];
  bool whole = true;
  for (std::size_t i = 0; i < row.size(); ++i) {
    whole = TURTLE_SERVER::Write(row[i], library.bound[i]) && whole;
  }
  return whole ? 0 : MYSQL_DATA_TRUNCATED;
}
int STDCALL mysql_stmt_fetch_column(MYSQL_STMT*, MYSQL_BIND* bind, unsigned column, unsigned long) {
  if (library.Fails("mysql_stmt_fetch_column")) {
    return 1;
  }
  TURTLE_SERVER::Write(TURTLE_SERVER::Sent()[library.next_row - 1][column], *bind);
  return 0;
}

my_bool STDCALL mysql_stmt_free_result(MYSQL_STMT*) { return library.has_ended ? 1 : 0; }
my_bool STDCALL mysql_stmt_more_results(MYSQL_STMT*) {
  const bool more = library.is_procedure && !library.asks_for_limit && !library.has_ended;
  return more || library.Fails("mysql_stmt_next_result") ? 1 : 0;
}
int STDCALL mysql_stmt_next_result(MYSQL_STMT*) {
  library.has_ended = true;
  return library.Fails("mysql_stmt_next_result") ? 1 : 0;
}
my_bool STDCALL mysql_stmt_close(MYSQL_STMT*) { return 0; }
unsigned STDCALL mysql_stmt_errno(MYSQL_STMT*) { return TURTLE_SERVER::kOutOfMemory; }
const char* STDCALL mysql_stmt_error(MYSQL_STMT*) { return "the stand-in fails"; }

}  // extern "C"

namespace TURTLE_SERVER {
namespace {

// The parameter: whether mysql_stmt_bind_result() clears the lengths.
class MariaDbStatementTest : public testing::TestWithParam<bool> {
 protected:
  MariaDbStatementTest() {
    library = {};
    library.bind_clears_lengths = GetParam();
    library.table = {{"1", "short", "\x01"},
                     {"2", std::string(100, 'a'), std::string(50, '\0')},
                     {"3", std::nullopt, std::string(300, 'b')},
                     {"4", "", std::nullopt},
                     {"5", std::string(200, 'c'), ""},
                     {"6", "six", std::string(300, 'd')}};
  }

  static auto Read(DbConnection& connection) -> Table {
    Table read;
    Rows rows = connection.Query("SELECT id, word, bytes FROM words");
    while (const Row* const row = rows.Next()) {
      const auto bytes = row->Get<std::optional<Blob>>(2);
      read.push_back({std::to_string(row->Get<int>(0)), row->Get<std::optional<std::string>>(1),
                      bytes ? Value(std::string(bytes->bytes)) : std::nullopt});
    }
    return read;
  }
};

TEST_P(MariaDbStatementTest, TextsThatHadNoRoomArriveWhole) {
  const auto connection = MariaDbDatabase({})->Open();
  EXPECT_EQ(Read(*connection), library.table);
  EXPECT_EQ(Read(*connection), library.table) << "when the statement runs again";
}

TEST_P(MariaDbStatementTest, AProcedureEndsWithoutAResult) {
  library.is_procedure = true;
  const auto connection = MariaDbDatabase({})->Open();
  EXPECT_EQ(Read(*connection), library.table);
  EXPECT_EQ(Read(*connection), library.table) << "when the statement runs again";
}

TEST_P(MariaDbStatementTest, ACallThatFailsIsAnError) {
  for (const char* const function :
       {"mysql_stmt_result_metadata", "mysql_stmt_bind_result", "mysql_stmt_store_result",
        "mysql_stmt_fetch", "mysql_stmt_fetch_column", "mysql_stmt_next_result"}) {
    const auto connection = MariaDbDatabase({})->Open();
    library.failing = function;
    const DbError error = test::Failure([&] { Read(*connection); });
    EXPECT_EQ(error.Kind(), DbErrorKind::kUnavailable) << function << ": " << error.what();
    EXPECT_NE(std::string(error.what()).find("the stand-in fails"), std::string::npos)
        << function << ": " << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Library, MariaDbStatementTest, testing::Bool(), [](const auto& clears) {
  return clears.param ? "BindClearsLengths" : "BindLeavesLengths";
});

}  // namespace
}  // namespace TURTLE_SERVER

#else

TEST(MariaDbStatementTest, TheBuildHasMariaDb) { GTEST_SKIP() << "built without MariaDB"; }

#endif  // TURTLE_WITH_MARIADB
