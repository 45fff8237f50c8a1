// A list of to-dos in memory. The service only uses this interface, which could as well hide a
// database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"

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
/// copies.
class TodoList {
 public:
  /// @param max_todos how many it takes; a list that strangers fill needs a limit
  explicit TodoList(std::size_t max_todos) : max_todos_(max_todos) {}

  /// Returns all of them, or those whose `done` is as given.
  auto All(std::optional<bool> done = std::nullopt) const -> std::vector<Todo> {
    const turtle::MutexLock lock(mutex_);
    std::vector<Todo> all;
    for (const auto& [id, todo] : todos_) {
      if (!done || todo.done == *done) {
        all.push_back(todo);
      }
    }
    return all;
  }

  /// Returns one of them; nullopt if the id is unknown.
  auto Find(std::int64_t id) const -> std::optional<Todo> {
    const turtle::MutexLock lock(mutex_);
    const auto found = todos_.find(id);
    return found == todos_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Adds one with a new id, and returns it; nullopt if the list is full.
  auto Add(std::string title, bool done) -> std::optional<Todo> {
    const turtle::MutexLock lock(mutex_);
    if (todos_.size() >= max_todos_) {
      return std::nullopt;
    }
    const std::int64_t id = ++last_id_;
    return todos_.emplace(id, Todo{id, std::move(title), done}).first->second;
  }

  /// Changes one; returns nullopt if the id is unknown.
  /// @return its new state
  auto Change(std::int64_t id, const TodoChange& change) -> std::optional<Todo> {
    const turtle::MutexLock lock(mutex_);
    const auto found = todos_.find(id);
    if (found == todos_.end()) {
      return std::nullopt;
    }
    Todo& todo = found->second;
    todo.title = change.title.value_or(todo.title);
    todo.done = change.done.value_or(todo.done);
    return todo;
  }

  /// Removes one. @return false if the id is unknown
  auto Remove(std::int64_t id) -> bool {
    const turtle::MutexLock lock(mutex_);
    return todos_.erase(id) == 1;
  }

 private:
  const std::size_t max_todos_;
  mutable turtle::Mutex mutex_;
  std::map<std::int64_t, Todo> todos_ TURTLE_GUARDED_BY(mutex_);  // ids grow, so it is in order
  std::int64_t last_id_ TURTLE_GUARDED_BY(mutex_) = 0;
};
