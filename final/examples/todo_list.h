// A list of to-dos in a database. The service only uses this interface, which hid a map in chapter
// 20.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/namespace.h"
#include "db/db_pool.h"

/// A thing to do.
struct Todo {
  std::int64_t id = 0;  ///< never reused, even after a removal
  std::string title;    ///< in UTF-8
  bool done = false;    ///< true once it is done
};

/// A change of a to-do; members that aren't set stay unchanged.
struct TodoChange {
  std::optional<std::string> title{};
  std::optional<bool> done{};
};

/// All to-dos, in the order in which they were added. Any thread may call it; the results are
/// copies. A returned to-do was written to disk: it survives a crash. Every function waits for the
/// database, so none may run on a loop; each throws turtle::DbError.
class TodoList {
 public:
  /// Creates the table, if it is missing.
  /// @param pool of connections; outlives it
  /// @param max_todos how many it takes; a list that strangers fill needs a limit
  TodoList(turtle::DbPool& pool, std::size_t max_todos) : pool_(pool), max_todos_(max_todos) {
    const turtle::DbLease connection = pool_.Acquire();
    if (connection->Dialect() == turtle::DbDialect::kMariaDb) {
      connection->Execute(
          "CREATE TABLE IF NOT EXISTS todos (id BIGINT PRIMARY KEY AUTO_INCREMENT, "
          "title TEXT NOT NULL, done BOOLEAN NOT NULL) CHARACTER SET utf8mb4");
    } else {
      connection->Execute(
          "CREATE TABLE IF NOT EXISTS todos (id INTEGER PRIMARY KEY AUTOINCREMENT, "
          "title TEXT NOT NULL, done INTEGER NOT NULL) STRICT");
    }
  }

  /// Returns all of them, or those whose `done` is as given.
  auto All(std::optional<bool> done = std::nullopt) const -> std::vector<Todo> {
    const turtle::DbLease connection = pool_.Acquire();
    turtle::Rows rows = connection->Query(
        "SELECT id, title, done FROM todos WHERE done = COALESCE(?, done) ORDER BY id", done);
    std::vector<Todo> all;
    while (const turtle::Row* const row = rows.Next()) {
      all.push_back(Read(*row));
    }
    return all;
  }

  /// Returns one of them; nullopt if the id is unknown.
  auto Find(std::int64_t id) const -> std::optional<Todo> {
    const turtle::DbLease connection = pool_.Acquire();
    return Find(*connection, id);
  }

  /// Adds one with a new id, and returns it; nullopt if the list is full.
  auto Add(const std::string& title, bool done) -> std::optional<Todo> {
    const turtle::DbLease connection = pool_.Acquire();
    turtle::Transaction transaction(*connection);  // no one can add between the two
    if (Count(*connection) >= max_todos_) {
      return std::nullopt;
    }
    const std::int64_t id =
        connection->Execute("INSERT INTO todos (title, done) VALUES (?, ?)", title, done).last_id;
    transaction.Commit();
    return Todo{id, title, done};
  }

  /// Changes one; returns nullopt if the id is unknown.
  /// @return its new state
  auto Change(std::int64_t id, const TodoChange& change) -> std::optional<Todo> {
    const turtle::DbLease connection = pool_.Acquire();
    turtle::Transaction transaction(*connection);
    connection->Execute(
        "UPDATE todos SET title = COALESCE(?, title), done = COALESCE(?, done) WHERE id = ?",
        change.title, change.done, id);
    std::optional<Todo> todo = Find(*connection, id);
    transaction.Commit();
    return todo;
  }

  /// Removes one. @return false if the id is unknown
  auto Remove(std::int64_t id) -> bool {
    return pool_.Acquire()->Execute("DELETE FROM todos WHERE id = ?", id).affected_rows == 1;
  }

 private:
  static auto Read(const turtle::Row& row) -> Todo {
    return {row.Get<std::int64_t>("id"), row.Get<std::string>("title"), row.Get<bool>("done")};
  }

  static auto Find(turtle::DbConnection& connection, std::int64_t id) -> std::optional<Todo> {
    turtle::Rows rows = connection.Query("SELECT id, title, done FROM todos WHERE id = ?", id);
    const turtle::Row* const row = rows.Next();
    return row == nullptr ? std::nullopt : std::optional(Read(*row));
  }

  static auto Count(turtle::DbConnection& connection) -> std::size_t {
    turtle::Rows rows = connection.Query("SELECT COUNT(*) FROM todos");
    return static_cast<std::size_t>(rows.Next()->Get<std::int64_t>(0));
  }

  turtle::DbPool& pool_;
  const std::size_t max_todos_;
};
