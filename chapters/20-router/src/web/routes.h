// The routes of a server, and what is done around them.
//
// Interface:
//  * A RouteAction answers, by what it writes into the response.
//  * RouteOptions are the limits of one route.
//  * Middleware is called before each route, and sees each response and each exception.
//  * Routes holds them for all loops.
//
// Thread: filled by the owner before the server begins, constant afterwards. Handlers and
// middleware are shared by all loops: with more than one, they are called on several threads at
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/method.h"
#include "http/router.h"
#include "web/prefix_map.h"
#include "web/request_handler.h"
#include "web/server_request.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

/// Answers a route. It may throw: HttpError becomes its status, anything else a logged 500, even an
/// exception of nlohmann::json. An exception from RequestJson is an HttpError.
using RouteAction = std::function<void(const ServerRequest&, ServerResponse&)>;

/// The limits of one route; the server's count where one is not set.
struct RouteOptions {
  /// The longest request body in bytes, in place of BodyLimits::max_body_bytes. A longer one is
  /// refused by 413: at once if its length is declared, else when it exceeds the limit.
  std::optional<std::uint64_t> max_body_bytes{};
};

/// Functions to call around the handlers of all routes, or of a group's (web/route_group.h). Each
/// function may be empty; each may throw, as a handler.
struct Middleware {
  /// Called when the head of a request is there whose path has routes, before its body is read and
  /// before anything answers, OPTIONS and 405 included. A response is sent in place of all that
  /// would follow; nullopt: go on.
  std::function<std::optional<ServerResponse>(const ServerRequest&)> before{};

  /// Called with each response before it is sent, an error's too, unless a `before` further out has
  /// answered. An unknown method (501) and an expectation that can't be met (417) are refused
  /// before all middleware. The last added comes first: what was outermost on the way in is
  /// outermost on the way out. An exception takes the response's place: an HttpError, or a logged
  /// 500. Refusals while a body comes (too large, malformed, too slow) are seen here as well.
  std::function<void(const ServerRequest&, ServerResponse&)> after{};

  /// Called with the exception, or an HttpError for a body that can't be read, and with the error
  /// page that is going to be sent for it. Anything that is no HttpError is logged, unless the
  /// page's status is made less than 500.
  std::function<void(const ServerRequest&, ServerResponse&, const std::exception&)> error{};
};

/// The routes and mounts of a server.
class Routes {
 public:
  /// Handlers under a path.
  struct Mount {
    std::string prefix;                ///< "/", or a path such as "/cgi-bin"
    HandlerFactory factory;            ///< makes one for each loop
    std::optional<std::size_t> group;  ///< the group with their middleware; nullopt: none
  };

  /// One of them.
  struct Route {
    Method method;         ///< of the requests that it answers
    std::string pattern;   ///< their paths
    RouteAction action;    ///< the handler
    RouteOptions options;  ///< its limits
    std::size_t group;     ///< the group with its middleware
  };

  /// The group of all routes that are in no other.
  static constexpr std::size_t kServer = 0;

  /// Adds a group, whose middleware runs inside of that of `outer`.
  /// @return its number
  auto AddGroup(std::size_t outer) -> std::size_t {
    groups_.push_back({outer, {}});
    return groups_.size() - 1;
  }

  /// Adds a route. Throws std::invalid_argument as Router::Add().
  void Add(Method method, std::string pattern, RouteAction action, RouteOptions options = {},
           std::size_t group = kServer) {
    check_.Add(method, pattern);
    routes_.push_back({method, std::move(pattern), std::move(action), options, group});
  }

  /// Adds middleware, inside of what its group has.
  void Use(Middleware middleware, std::size_t group = kServer) {
    groups_[group].middleware.push_back(std::move(middleware));
  }

  /// Adds a mount. Throws std::invalid_argument if its prefix is none.
  void Add(Mount mount) {
    RequirePrefix("mount", mount.prefix);
    mounts_.push_back(std::move(mount));
  }

  /// Returns the mounts, in the order in which they were added.
  [[nodiscard]] auto Mounts() const noexcept -> const std::vector<Mount>& { return mounts_; }

  /// In the order in which they were added: Router::Add() gives them the same numbers.
  [[nodiscard]] auto All() const noexcept -> const std::vector<Route>& { return routes_; }

  /// Returns how many groups there are; their numbers are less.
  [[nodiscard]] auto Groups() const noexcept -> std::size_t { return groups_.size(); }

  /// Returns the middleware around the routes of a group, outermost first. Valid until the next change.
  [[nodiscard]] auto Around(std::size_t group) const -> std::vector<const Middleware*> {
    std::vector<const Middleware*> around;
    if (group != kServer) {
      around = Around(groups_[group].outer);
    }
    for (const Middleware& each : groups_[group].middleware) {
      around.push_back(&each);
    }
    return around;
  }

 private:
  struct Group {
    std::size_t outer;  // itself, if it is kServer
    std::vector<Middleware> middleware;
  };

  Router check_;
  std::vector<Route> routes_;
  std::vector<Mount> mounts_;
  std::vector<Group> groups_{1};
};

}  // namespace TURTLE_SERVER
