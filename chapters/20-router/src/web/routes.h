// The routes of a server and the middleware around them.
//
// Interface:
//  * A RouteAction responds by filling in the response.
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

/// Responds to a route's request. It may throw: an HttpError gives its status, anything else a
/// logged 500, even an exception of nlohmann::json. RequestJson throws HttpError.
using RouteAction = std::function<void(const ServerRequest&, ServerResponse&)>;

/// The limits of one route; a limit that is not set is the server's.
struct RouteOptions {
  /// The longest request body in bytes, in place of BodyLimits::max_body_bytes. A longer one gives
  /// a 413: at once if its length is declared, else when it exceeds the limit.
  std::optional<std::uint64_t> max_body_bytes{};
};

/// Functions to call around the handlers of all routes, or of a group's (web/route_group.h). Each
/// function may be empty; each may throw, as a handler may.
struct Middleware {
  /// Called when the head of a request whose path has routes is complete: before its body is read,
  /// and before any response, even to OPTIONS or a 405. A returned response replaces everything
  /// that would follow; nullopt continues.
  std::function<std::optional<ServerResponse>(const ServerRequest&)> before{};

  /// Called with each response before it is sent, even an error's, unless a `before` further out
  /// has responded. An unknown method (501) and an expectation that can't be met (417) are refused
  /// before all middleware. The last one added comes first, so the outermost on the way in is also
  /// outermost on the way out. An exception replaces the response: an HttpError, or a logged 500.
  /// It also sees refused bodies (too large, malformed, too slow).
  std::function<void(const ServerRequest&, ServerResponse&)> after{};

  /// Called with the exception, or with an HttpError for a body that can't be read, and with the
  /// error page to be sent. Anything but an HttpError is logged, unless the page's status is set
  /// below 500.
  std::function<void(const ServerRequest&, ServerResponse&, const std::exception&)> error{};
};

/// The routes and mounts of a server.
class Routes {
 public:
  /// A handler under a path.
  struct Mount {
    std::string prefix;                ///< "/", or a path such as "/cgi-bin"
    HandlerFactory factory;            ///< makes one for each loop
    std::optional<std::size_t> group;  ///< the group with their middleware; nullopt: none
  };

  /// One route.
  struct Route {
    Method method;         ///< of its requests
    std::string pattern;   ///< of its paths
    RouteAction action;    ///< the handler
    RouteOptions options;  ///< its limits
    std::size_t group;     ///< the group with its middleware
  };

  /// The group of all routes that are in no other group.
  static constexpr std::size_t kServer = 0;

  /// Adds a group, whose middleware runs inside that of `outer`.
  /// @return its number
  auto AddGroup(std::size_t outer) -> std::size_t {
    groups_.push_back({outer, {}});
    return groups_.size() - 1;
  }

  /// Adds a route. Throws std::invalid_argument as Router::Add() does.
  void Add(Method method, std::string pattern, RouteAction action, RouteOptions options = {},
           std::size_t group = kServer) {
    check_.Add(method, pattern);
    routes_.push_back({method, std::move(pattern), std::move(action), options, group});
  }

  /// Adds middleware inside that of its group.
  void Use(Middleware middleware, std::size_t group = kServer) {
    groups_[group].middleware.push_back(std::move(middleware));
  }

  /// Adds a mount. Throws std::invalid_argument if its prefix is invalid.
  void Add(Mount mount) {
    RequirePrefix("mount", mount.prefix);
    mounts_.push_back(std::move(mount));
  }

  /// Returns the mounts, in the order in which they were added.
  [[nodiscard]] auto Mounts() const noexcept -> const std::vector<Mount>& { return mounts_; }

  /// Returns the routes in the order in which they were added; Router uses the same numbers.
  [[nodiscard]] auto All() const noexcept -> const std::vector<Route>& { return routes_; }

  /// Returns the number of groups; each group's number is less.
  [[nodiscard]] auto Groups() const noexcept -> std::size_t { return groups_.size(); }

  /// Returns a group's middleware, outermost first. Valid until the next change.
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
    std::size_t outer;  // of kServer: itself
    std::vector<Middleware> middleware;
  };

  Router check_;
  std::vector<Route> routes_;
  std::vector<Mount> mounts_;
  std::vector<Group> groups_{1};
};

}  // namespace TURTLE_SERVER
