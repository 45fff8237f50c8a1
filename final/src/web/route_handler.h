// Handles the requests whose path has a route, on one loop.
//
// A request passes through here before the mounted handlers, and goes on to them if no route has
// its path. If a route has it, the request stays here, whatever the method: a 405 then lists the
// path's methods, and a file of the same name is ignored.
//
// A handler is called when the body is complete, which the session reads within its limit, unless
// the handler wants the pieces. A request without a body that gets its response at once costs no
// allocation.
//
// If the server compresses, a handler gets the body of a request decoded, unless the options say
// otherwise. One in an unknown coding, or in several, is refused before the client sends it.
//
// Interface:
//  * TryHandle() handles a request, now or later, or returns that it has no route.
//  * LateReplies receives the responses of Responder, ReplyStream and RequestBody.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include "http/router.h"
#include "web/error_formats.h"
#include "web/exchange.h"
#include "web/late_replies.h"
#include "web/middleware_chain.h"
#include "web/routes.h"
#include "web/server_request.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

/// Finds and calls routes on one loop.
class RouteHandler final : public LateReplies {
 public:
  /// @param routes outlive this object
  /// @param errors formats of error pages; outlive this object, too
  /// @param others methods of the mounted handlers, for "OPTIONS *"
  RouteHandler(const Routes& routes, const ErrorFormats& errors, MethodSet others);

  /// Handles `exchange`, before this returns or later. @return false if no route has its path, and
  /// nothing was done.
  auto TryHandle(Exchange& exchange) -> bool;

  /// Responds to `exchange`, whose body can't be read, with an error page, if it has a route.
  /// @param exchange of the body
  /// @param status of the page
  /// @param reason for its text
  /// @return false if no route has its path, and nothing was done
  auto TryRefuse(Exchange& exchange, int status, const std::string& reason) -> bool;

  void BringBody(Exchange& exchange, BodyCallback callback) override;
  void ReplyLate(Exchange& exchange, ServerResponse& response) noexcept override;
  void FailLate(Exchange& exchange, const std::exception_ptr& thrown) noexcept override;
  void BeginLate(Exchange& exchange, ServerResponse& head) noexcept override;

 private:
  void Answer(Exchange& exchange, const RouteMatch& match);
  void Begin(Exchange& exchange, const RouteMatch& match, const ServerRequest& request);
  auto Decode(Exchange& exchange, const RouteOptions& options, const ServerRequest& request)
      -> bool;
  void Collect(Exchange& exchange);
  void Receive(Exchange& exchange, const ServerRequest& request, const UploadAction& action);
  void Run(Exchange& exchange, const RouteMatch& match, std::string* body);
  template <typename Handler>
  void ReplyNow(Exchange& exchange, const ServerRequest& request, const Handler& handler);
  template <typename Handler>
  void ReplyLater(Exchange& exchange, const ServerRequest& request, const RouteOptions& options,
                  const Handler& handler);
  void Reply(Exchange& exchange, const ServerRequest& request, ServerResponse& response,
             std::size_t entered = MiddlewareChain::kAll);
  template <typename Make, typename Send>
  void AnswerLate(Exchange& exchange, ServerResponse& response, const Make& make,
                  const Send& send) noexcept;
  auto Match(const Exchange& exchange) -> RouteMatch;

  const Routes& routes_;
  Router router_;
  std::vector<MiddlewareChain> groups_;
  MethodSet server_methods_;
  // Of the request that is being handled now.
  const MiddlewareChain* around_ = nullptr;
  RequestFields fields_;
  ServerResponse response_;
};

}  // namespace TURTLE_SERVER
