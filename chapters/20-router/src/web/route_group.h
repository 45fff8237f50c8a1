// Routes under one prefix, with middleware that is around them alone.
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
// Middleware is an onion: the server's is outermost, then comes that of the groups from the outer
// one to the inner one. A 405 and a response to OPTIONS belong to the group of the path's routes.
// HttpServer::Mount() mounts without middleware.
//
// For a path that has neither a route nor a mount of a group, no middleware is called: that 404
// needs no login. A group that has to see every path has Mount("/", …), and its prefix may be "".
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
  /// @param outer the group in which it is
  /// @param prefix of its patterns: "" or a path such as "/api", which may have parameters
  /// @throws std::invalid_argument if it is neither
  RouteGroup(Routes& routes, std::size_t outer, std::string prefix);

  /// Adds a route, as HttpServer::Route().
  /// @param method of the requests
  /// @param pattern follows the prefix: "/todos", or "" for the prefix itself. A regular expression
  ///     can't follow one.
  /// @param action what answers
  /// @param options limits of this route
  /// @return this
  /// @throws std::invalid_argument as HttpServer::Route()
  auto Route(Method method, const std::string& pattern, RouteAction action,
             const RouteOptions& options = {}) -> RouteGroup&;

  /// Route() for GET, and HEAD.
  auto Get(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kGet, pattern, std::move(action), options);
  }

  /// Route() for POST.
  auto Post(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kPost, pattern, std::move(action), options);
  }

  /// Route() for PUT.
  auto Put(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kPut, pattern, std::move(action), options);
  }

  /// Route() for PATCH.
  auto Patch(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kPatch, pattern, std::move(action), options);
  }

  /// Route() for DELETE.
  auto Delete(const std::string& pattern, RouteAction action, const RouteOptions& options = {})
      -> RouteGroup& {
    return Route(Method::kDelete, pattern, std::move(action), options);
  }

  /// Has the handlers that `factory` makes, one for each loop, respond to the requests under a path
  /// that has no route, HttpServer::Mount(), inside the middleware of this group and the outer
  /// ones. `after` is called when the response begins: it sees a body that was given as a whole,
  /// and may replace any. `error` is called for an exception that leaves Handle(). `after` is not
  /// called if the handler calls ReplyFrom() or Upgrade(). A body that is declared too long is
  /// refused before all middleware.
  /// @param prefix follows the group's: "/files", or "" for that prefix itself. Neither may have
  ///     parameters.
  /// @param factory as HttpServer::Mount()
  /// @return this
  /// @throws std::invalid_argument if both are no prefix for HttpServer::Mount()
  auto Mount(const std::string& prefix, HandlerFactory factory) -> RouteGroup&;

  /// Adds middleware around the routes and mounts of this group and of the groups in it, also those
  /// that were added before; inside of what it has.
  /// @return this
  auto Use(Middleware middleware) -> RouteGroup&;

  /// Makes a group whose prefix follows this one's.
  /// @param prefix as the constructor's
  [[nodiscard]] auto Group(const std::string& prefix) const -> RouteGroup;

 private:
  Routes& routes_;
  std::string prefix_;
  std::size_t number_;
};

}  // namespace TURTLE_SERVER
