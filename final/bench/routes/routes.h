// The common part of the servers in the routes' benchmark: their responses and their rows.
//
//    GET  /text                        a text of 13 bytes
//    GET  /users/{user}/posts/{post}   two parameters, as JSON
//    POST /sum                         {"items": [{"price": 3, "count": 2}, …]}; the sum, as JSON
//    GET  /rows/{id}                   a row of a table of SQLite, as JSON
//    GET  /worker                      the text, from a thread other than the loop's
//
// All use the same JSON and the same SQLite, so what differs is the library around them.
#pragma once

#include <sqlite3.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace routes {

constexpr const char* kText = "Hello, world\n";
constexpr int kRows = 1000;

// Threads for work that must not run on a loop.
constexpr int kWorkers = 2;

inline auto Number(std::string_view text) -> std::int64_t {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("no number: " + std::string(text));
  }
  return number;
}

inline auto PostJson(std::int64_t user, std::int64_t post) -> nlohmann::json {
  return {{"user", user}, {"post", post}};
}

inline auto SumJson(const nlohmann::json& order) -> nlohmann::json {
  std::int64_t total = 0;
  for (const nlohmann::json& item : order.at("items")) {
    total += item.at("price").get<std::int64_t>() * item.at("count").get<std::int64_t>();
  }
  return {{"total", total}};
}

inline auto RowJson(std::int64_t id, std::string_view name) -> nlohmann::json {
  return {{"id", id}, {"name", name}};
}

// Throws SQLite's error unless `code` is SQLITE_OK.
inline void Check(int code, sqlite3* database) {
  if (code != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(database));
  }
}

// Its own connection to a database that has the rows, with the query prepared: for one thread at a
// time.
class Rows {
 public:
  explicit Rows(const std::string& file) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &opened,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(opened);
    Check(code, opened);
    sqlite3_stmt* query = nullptr;
    Check(sqlite3_prepare_v2(opened, "SELECT name FROM rows WHERE id = ?", -1, &query, nullptr),
          opened);
    query_.reset(query);
  }

  // The row, as JSON. Throws std::out_of_range if there is none.
  auto Find(std::int64_t id) -> nlohmann::json {
    sqlite3_bind_int64(query_.get(), 1, id);
    if (sqlite3_step(query_.get()) != SQLITE_ROW) {
      sqlite3_reset(query_.get());
      throw std::out_of_range("no row " + std::to_string(id));
    }
    const auto* const name = sqlite3_column_text(query_.get(), 0);
    nlohmann::json row = RowJson(id, reinterpret_cast<const char*>(name));
    sqlite3_reset(query_.get());
    return row;
  }

 private:
  struct Closed {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* query) const { sqlite3_finalize(query); }
  };
  std::unique_ptr<sqlite3, Closed> database_;
  std::unique_ptr<sqlite3_stmt, Closed> query_;
};

// This thread's connection.
inline auto RowsHere(const std::string& file) -> Rows& {
  thread_local Rows rows(file);
  return rows;
}

// Makes a new file with the table.
inline void MakeRows(const std::string& file) {
  std::filesystem::remove(file);
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(file.c_str(), &opened);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(opened, &sqlite3_close);
  Check(code, opened);
  std::string sql =
      "PRAGMA journal_mode = WAL; BEGIN; CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT);";
  for (int id = 1; id <= kRows; ++id) {
    sql += "INSERT INTO rows VALUES (" + std::to_string(id) + ", 'row number " +
           std::to_string(id) + "');";
  }
  Check(sqlite3_exec(opened, (sql + "COMMIT;").c_str(), nullptr, nullptr, nullptr), opened);
}

// The common main() of these programs: PROGRAM PORT FILE; the database FILE is made. `serve` is a
// function of (std::uint16_t port, const std::string& file).
template <typename Serve>
auto Main(int argc, char** argv, const Serve& serve) -> int {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s PORT FILE\n", argv[0]);
    return 2;
  }
  try {
    const std::int64_t port = Number(argv[1]);
    if (port < 1 || port > 65'535) {
      throw std::invalid_argument("port " + std::string(argv[1]) +
                                  ": a number from 1 to 65535 is needed");
    }
    MakeRows(argv[2]);
    serve(static_cast<std::uint16_t>(port), std::string(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace routes
