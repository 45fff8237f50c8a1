// A to-do list in a database.
//
// Thread: any. Every function waits for the database: not for a loop's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/db_pool.h"

namespace TURTLE_SERVER::example {

/// Something to be done.
struct Todo {
  std::int64_t id;    ///< never given to another one
  std::string title;  ///< what
  bool done;          ///< is it?
};

/// The list. What its functions return has been written down: it is there after a crash, too. They
/// throw DbError.
class TodoStore {
 public:
  /// Makes the table, if there is none.
  /// @param pool outlives it
  explicit TodoStore(DbPool& pool) : pool_(pool) {
    const DbLease connection = pool_.Acquire();
    if (connection->Dialect() == DbDialect::kMariaDb) {
      connection->Execute(
          "CREATE TABLE IF NOT EXISTS todos (id BIGINT PRIMARY KEY AUTO_INCREMENT, "
          "title TEXT NOT NULL, done BOOLEAN NOT NULL) CHARACTER SET utf8mb4");
    } else {
      connection->Execute(
          "CREATE TABLE IF NOT EXISTS todos (id INTEGER PRIMARY KEY AUTOINCREMENT, "
          "title TEXT NOT NULL, done INTEGER NOT NULL) STRICT");
    }
  }

  /// The oldest first, a thousand at most.
  auto All() -> std::vector<Todo> {
    const DbLease connection = pool_.Acquire();
    std::vector<Todo> todos;
    Rows rows = connection->Query("SELECT id, title, done FROM todos ORDER BY id LIMIT 1000");
    while (const Row* const row = rows.Next()) {
      todos.push_back(Read(*row));
    }
    return todos;
  }

  /// One of them; nullopt: there is none.
  auto Find(std::int64_t id) -> std::optional<Todo> {
    const DbLease connection = pool_.Acquire();
    return Find(*connection, id);
  }

  /// Adds one.
  auto Add(std::string_view title) -> Todo {
    const DbLease connection = pool_.Acquire();
    const std::int64_t id =
        connection->Execute("INSERT INTO todos (title, done) VALUES (?, ?)", title, false).last_id;
    return {id, std::string(title), false};
  }

  /// Changes what is given. @return what it is now; nullopt: there is none
  auto Change(std::int64_t id, const std::optional<std::string>& title, std::optional<bool> done)
      -> std::optional<Todo> {
    const DbLease connection = pool_.Acquire();
    Transaction transaction(*connection);
    connection->Execute(
        "UPDATE todos SET title = COALESCE(?, title), done = COALESCE(?, done) WHERE id = ?", title,
        done, id);
    std::optional<Todo> todo = Find(*connection, id);
    transaction.Commit();
    return todo;
  }

  /// Takes one out. @return false: there was none
  auto Remove(std::int64_t id) -> bool {
    return pool_.Acquire()->Execute("DELETE FROM todos WHERE id = ?", id).affected_rows == 1;
  }

 private:
  static auto Read(const Row& row) -> Todo {
    return {row.Get<std::int64_t>("id"), row.Get<std::string>("title"), row.Get<bool>("done")};
  }

  static auto Find(DbConnection& connection, std::int64_t id) -> std::optional<Todo> {
    Rows rows = connection.Query("SELECT id, title, done FROM todos WHERE id = ?", id);
    const Row* const row = rows.Next();
    return row == nullptr ? std::nullopt : std::optional(Read(*row));
  }

  DbPool& pool_;
};

}  // namespace TURTLE_SERVER::example
