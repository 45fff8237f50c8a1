// Groups routes under one prefix, with their own middleware.
//
//   RouteGroup api = server.Group("/api");
//   api.Use(JsonErrors());
//   api.Get("/todos", ListTodos).Post("/todos", AddTodo);  // /api/todos
//
// Interface:
//  * Get(), Post(), Put(), Patch(), Delete() and Route() add routes, Use() adds middleware.
//  * Mount() puts handlers under a path.
//  * Group() makes a group within this one.
//
// Middleware is an onion: the server's is outermost, followed by that of the groups from the outer
// one to the inner one. A 405 and a response to OPTIONS belong to the group of the path's routes.
// HttpServer::Mount() mounts without middleware.
//
// A path with neither a route nor a mount of a group runs no middleware: that 404 needs no login. A
// group that must see every path uses Mount("/", …), and its prefix may be "".
//
// Thread: the owner's, before the server begins.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "http/method.h"
#include "web/request_handler.h"
#include "web/routes.h"

namespace TURTLE_SERVER {

/// A part of a server's routes and mounts. A copy is the same group.
class RouteGroup {
 public:
  /// For HttpServer::Group().
  /// @param routes outlive this object
  /// @param outer the enclosing group
  /// @param prefix of its patterns: "" or a path such as "/api", which may have parameters
  /// @throws std::invalid_argument if it is neither
  RouteGroup(Routes& routes, std::size_t outer, std::string prefix);

  /// Adds a route, as HttpServer::Route() does.
  /// @param method of the requests
  /// @param pattern follows the prefix: "/todos", or "" for the prefix itself. A regular expression
  ///     can't follow one.
  /// @param action the handler
  /// @param options limits of this route
  /// @return this
  /// @throws std::invalid_argument as HttpServer::Route() does
  auto Route(Method method, const std::string& pattern, RouteAction action,
             const RouteOptions& options = {}) -> RouteGroup&;

  /// Calls Route() for GET, which includes HEAD.
  auto Get(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kGet, pattern, std::move(action), options);
  }

  /// Calls Route() for POST.
  auto Post(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kPost, pattern, std::move(action), options);
  }

  /// Calls Route() for PUT.
  auto Put(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kPut, pattern, std::move(action), options);
  }

  /// Calls Route() for PATCH.
  auto Patch(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kPatch, pattern, std::move(action), options);
  }

  /// Calls Route() for DELETE.
  auto Delete(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kDelete, pattern, std::move(action), options);
  }

  /// Makes a handler for each loop with `factory`, for requests under a path that has no route, as
  /// HttpServer::Mount() does, inside the middleware of this group and the outer ones. `after` is
  /// called when the response begins: it sees a body that was given as a whole, and may replace
  /// any. `error` is called for an exception that leaves Handle(). `after` is not called if the
  /// handler calls ReplyFrom() or Upgrade(). A body declared too long is refused before all
  /// middleware.
  /// @param prefix follows the group's: "/files", or "" for that prefix itself. Neither may have
  ///     parameters.
  /// @param factory as for HttpServer::Mount()
  /// @return this
  /// @throws std::invalid_argument if both together are not a prefix for HttpServer::Mount()
  auto Mount(const std::string& prefix, HandlerFactory factory) -> RouteGroup&;

  /// Adds middleware around the routes and mounts of this group and its inner groups, including
  /// those added before. It runs inside the group's earlier middleware.
  /// @return this
  auto Use(Middleware middleware) -> RouteGroup&;

  /// Makes a group whose prefix follows this one's.
  /// @param prefix as for the constructor
  [[nodiscard]] auto Group(const std::string& prefix) const -> RouteGroup;

 private:
  Routes& routes_;
  std::string prefix_;
  std::size_t number_;
};

}  // namespace TURTLE_SERVER
