// The routes of a server, and what is done around them.
//
// Interface:
//  * A RouteAction answers: at once, by what it writes into the response, or later, by a Responder;
//    when the body is there, while it comes, or when a form with files is kept.
//  * Middleware is asked before each route, and looks at each reply, and at each exception.
//  * Routes holds them for all loops.
//
// Thread: filled by the owner before the server begins, constant afterwards. Handlers and
// middleware are shared by all loops: with more than one, they are called on several threads at
// once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "http/method.h"
#include "http/router.h"
#include "web/request_body.h"
#include "web/responder.h"
#include "web/server_request.h"
#include "web/server_response.h"
#include "web/upload.h"

namespace TURTLE_SERVER {

/// Answers at once. It may throw: HttpError becomes its status, whatever else a logged 500, also an
/// exception of nlohmann::json. What a RequestJson throws is an HttpError.
using SyncHandler = std::function<void(const ServerRequest&, ServerResponse&)>;

/// Answers later, from any thread. It may throw as well.
using AsyncHandler = std::function<void(const ServerRequest&, Responder)>;

/// The same, and takes the body while it comes: it is called when the head is there.
using StreamingHandler = std::function<void(const ServerRequest&, const RequestBody&, Responder)>;

/// Answers a form with files, multipart/form-data, when all of it is there.
using UploadHandler = std::function<void(const ServerRequest&, const Upload&, ServerResponse&)>;

/// An UploadHandler, and how much it is given. What is no such form is refused for it (415), as is
/// one that is malformed (400) or too large (413). How large a form may be is said by its own
/// limits, also where the server's limit for bodies is another.
struct UploadAction {
  /// @param what called with the form
  /// @param limits how much is kept, and where
  template <typename Handler,
            typename = std::enable_if_t<std::is_convertible_v<Handler, UploadHandler>>>
  UploadAction(Handler what, UploadOptions limits = {})  // NOLINT: a function will do for a route
      : handler(std::move(what)), options(std::move(limits)) {}

  UploadHandler handler;  ///< what answers
  UploadOptions options;  ///< how much is kept, and where
};

/// What answers a route; made from a function of any kind.
using RouteAction = std::variant<SyncHandler, AsyncHandler, StreamingHandler, UploadAction>;

/// What is done around the handlers of all routes. Each function may be empty; each may throw, as
/// a handler.
struct Middleware {
  /// Called when the head of a request is there whose path has routes, before its body is read and
  /// before anything answers, OPTIONS and 405 included. A response is sent in place of all that
  /// would follow; nullopt: go on.
  std::function<std::optional<ServerResponse>(const ServerRequest&)> before{};

  /// Called with each reply before it is sent, an error's too, unless a `before` further out has
  /// answered. A method that nobody knows (501) and an expectation that nobody meets (417) are
  /// refused before all middleware. The last added comes first: what was outermost on the way in is
  /// outermost on the way out. What it throws takes the reply's place: an HttpError, or a logged
  /// 500. What is refused while a body comes (too large, malformed, too slow) is seen here as well.
  std::function<void(const ServerRequest&, ServerResponse&)> after{};

  /// Called with what was thrown, or an HttpError for a body that can't be read, and with the error
  /// page that is going to be sent for it. Whatever is no HttpError is logged, unless the page's
  /// status is made less than 500.
  std::function<void(const ServerRequest&, ServerResponse&, const std::exception&)> error{};
};

/// All routes of a server.
class Routes {
 public:
  /// One of them.
  struct Route {
    Method method;        ///< of the requests that it answers
    std::string pattern;  ///< their paths
    RouteAction action;   ///< what answers
  };

  /// Adds a route. Throws std::invalid_argument as Router::Add().
  void Add(Method method, std::string pattern, RouteAction action) {
    check_.Add(method, pattern);
    routes_.push_back({method, std::move(pattern), std::move(action)});
  }

  /// Adds middleware, inside of what is there.
  void Use(Middleware middleware) { middleware_.push_back(std::move(middleware)); }

  /// In the order in which they were added: Router::Add() gives them the same numbers.
  [[nodiscard]] auto All() const noexcept -> const std::vector<Route>& { return routes_; }

  /// Outermost first.
  [[nodiscard]] auto Around() const noexcept -> const std::vector<Middleware>& {
    return middleware_;
  }

 private:
  Router check_;
  std::vector<Route> routes_;
  std::vector<Middleware> middleware_;
};

}  // namespace TURTLE_SERVER
