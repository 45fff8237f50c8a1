// Stores values with a request, one for each type.
//
// Middleware stores them; handlers and the middleware on the way out read them:
//
//   struct User {
//     std::string name;
//   };
//   Middleware login;
//   login.before = [](const ServerRequest& req) -> std::optional<ServerResponse> {
//     const auto name = req.Cookie("user");
//     if (!name) {
//       return ServerResponse().Page(401);
//     }
//     req.Set<User>({std::string(*name)});
//     return std::nullopt;
//   };
//   server.Use(login);
//   server.Get("/me", [](const ServerRequest& req, ServerResponse& res) {
//     res.Text(req.Get<User>().name);
//   });
//
// Interface:
//  * Set() adds a value; Find() and Get() read it. ServerRequest has the same functions.
//  * A copy is a snapshot: it shares the existing values, but no later Set().
//
// The values are destroyed, newest first, when the request is over, and no copy is left. An empty
// context costs no memory.
//
// Thread: one at a time for each context. Copies may be used by several threads at once, but they
// share the values, which have no lock.
#pragma once

#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Stores values, one for each type.
class RequestContext {
 public:
  /// Adds a value. It hides an earlier one of the same type, which stays alive: references to it
  /// remain valid.
  /// @tparam T the type by which it is found; a base class does not find it
  /// @param value moved into the context
  /// @return the value, valid as long as this context or a copy of it
  template <typename T>
  auto Set(T value) -> T& {
    static_assert(std::is_same_v<T, std::decay_t<T>>, "a value, no reference and not const");
    auto entry = std::make_shared<Value<T>>(std::move(value), newest_);
    T& kept = entry->value;
    newest_ = std::move(entry);
    return kept;
  }

  /// Returns the value of type `T`; nullptr if there is none. Valid like the result of Set().
  template <typename T>
  [[nodiscard]] auto Find() const noexcept -> T* {
    static_assert(std::is_same_v<T, std::decay_t<T>>, "a value, no reference and not const");
    for (Entry* entry = newest_.get(); entry != nullptr; entry = entry->older.get()) {
      if (entry->type == typeid(T)) {
        return &static_cast<Value<T>*>(entry)->value;
      }
    }
    return nullptr;
  }

  /// Returns the value of type `T`. Valid like the result of Set().
  /// @throws std::out_of_range, with the type's name, if there is none
  template <typename T>
  [[nodiscard]] auto Get() const -> T& {
    T* const found = Find<T>();
    if (found == nullptr) {
      ThrowMissing(typeid(T));
    }
    return *found;
  }

  /// Removes all values.
  void Clear() noexcept { newest_.reset(); }

 private:
  struct Entry {
    Entry(const std::type_info& what, std::shared_ptr<Entry> before) noexcept
        : type(what), older(std::move(before)) {}

    const std::type_info& type;
    const std::shared_ptr<Entry> older;
  };

  template <typename T>
  struct Value : Entry {  // no virtual destructor: a shared_ptr knows the type it was made with
    Value(T&& from, std::shared_ptr<Entry> before)
        : Entry(typeid(T), std::move(before)), value(std::move(from)) {}

    T value;
  };

  [[noreturn]] static void ThrowMissing(const std::type_info& type);

  std::shared_ptr<Entry> newest_;  // shared with the copies: another thread may have the last one
};

}  // namespace TURTLE_SERVER
