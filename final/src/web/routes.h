// The routes of a server, and what is done around them.
//
// Interface:
//  * A RouteAction answers: at once, by what it writes into the response, or later, by a Responder;
//    when the body is there, while it comes, or when a form with files is kept.
//  * RouteOptions are the limits of one route.
//  * Middleware is called before each route, and sees each response and each exception.
//  * Routes holds them for all loops.
//
// Thread: filled by the owner before the server begins, constant afterwards. Handlers and
// middleware are shared by all loops: with more than one, they are called on several threads at
// once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "http/http_error.h"
#include "http/method.h"
#include "http/router.h"
#include "web/prefix_map.h"
#include "web/request_body.h"
#include "web/request_handler.h"
#include "web/responder.h"
#include "web/server_request.h"
#include "web/server_response.h"
#include "web/upload.h"

namespace TURTLE_SERVER {

/// Answers at once. It may throw: HttpError becomes its status, anything else a logged 500, even an
/// exception of nlohmann::json. An exception from RequestJson is an HttpError.
using SyncHandler = std::function<void(const ServerRequest&, ServerResponse&)>;

/// Answers later, from any thread. It may throw as well.
using AsyncHandler = std::function<void(const ServerRequest&, Responder)>;

/// The same, and takes the body while it comes: it is called when the head is there.
using StreamingHandler = std::function<void(const ServerRequest&, const RequestBody&, Responder)>;

/// Answers a form with files, multipart/form-data, when all of it is there.
using UploadHandler = std::function<void(const ServerRequest&, const Upload&, ServerResponse&)>;

/// An UploadHandler, and how much it is given. A body that is no such form is refused (415), as is
/// one that is malformed (400) or too large (413). Its own limits decide how large a form may be,
/// even where the server's limit for bodies differs.
struct UploadAction {
  /// @param what called with the form
  /// @param limits how much is kept, and where
  template <typename Handler,
            typename = std::enable_if_t<std::is_convertible_v<Handler, UploadHandler>>>
  UploadAction(Handler what, UploadOptions limits = {})  // NOLINT: a function will do for a route
      : handler(std::move(what)), options(std::move(limits)) {}

  UploadHandler handler;  ///< the handler
  UploadOptions options;  ///< how much is kept, and where
};

/// Takes anything that is no handler, so that the compiler lists the kinds of handlers. There is
/// never an object of it.
struct NoHandler {
  /// True if a route takes a `Handler`.
  template <typename Handler>
  static constexpr bool kIsHandler =
      std::is_convertible_v<Handler, SyncHandler> || std::is_convertible_v<Handler, AsyncHandler> ||
      std::is_convertible_v<Handler, StreamingHandler> ||
      std::is_convertible_v<Handler, UploadAction>;

  /// Does not compile.
  template <typename Handler,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<Handler>, NoHandler> &&
                                        !kIsHandler<Handler>>>
  NoHandler(Handler&& /*what*/) {  // NOLINT: variant converts as a call does
    static_assert(kIsHandler<Handler>,
                  "a route's handler is a function of (const ServerRequest&, ServerResponse&), "
                  "(const ServerRequest&, Responder), "
                  "(const ServerRequest&, const RequestBody&, Responder) or "
                  "(const ServerRequest&, const Upload&, ServerResponse&), and can be copied");
  }
};

/// The function that answers a route; made from a function of any kind.
using RouteAction =
    std::variant<SyncHandler, AsyncHandler, StreamingHandler, UploadAction, NoHandler>;

/// The limits of one route; the server's count where one is not set.
struct RouteOptions {
  /// The longest request body in bytes, in place of BodyLimits::max_body_bytes. A longer one is
  /// refused by 413: at once if its length is declared, else when it exceeds the limit. An
  /// UploadAction has its own limit, and the smaller one counts.
  std::optional<std::uint64_t> max_body_bytes{};

  /// How long a handler that answers later may take, from its call until the response begins: then
  /// the client gets 503, and a later answer is dropped. Handlers that answer at once have no
  /// limit. Not below a millisecond.
  std::optional<std::chrono::milliseconds> response_timeout{};
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
    RouteOptions options;  ///< its limits, with those of an UploadAction
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

  /// Adds a route. Throws std::invalid_argument as Router::Add(), or for options that are none.
  void Add(Method method, std::string pattern, RouteAction action, RouteOptions options = {},
           std::size_t group = kServer) {
    if (options.response_timeout && options.response_timeout->count() < 1) {
      throw std::invalid_argument("route \"" + pattern + "\": response_timeout " +
                                  std::to_string(options.response_timeout->count()) +
                                  " ms: less than a millisecond");
    }
    check_.Add(method, pattern);
    if (const auto* upload = std::get_if<UploadAction>(&action)) {
      constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();
      options.max_body_bytes =
          std::min(options.max_body_bytes.value_or(kNone), upload->options.limits.max_body_bytes);
    }
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
