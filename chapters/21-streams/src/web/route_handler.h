// Answers the requests whose path has a route, on one loop.
//
// A request comes by here before the handlers that are mounted are asked, and goes on to them if no
// route has its path. If one has, it stays here, whatever the method: 405 then says which methods
// the path has, and a file of the same name is not looked at.
//
// A handler is called when the body is complete, which the session reads within its limit, unless
// it wants the pieces. The way of a request without a body that is answered at once costs no
// allocation.
//
// Interface:
//  * TryHandle() answers a request, now or later, or says that it has no route.
//  * LateReplies is where the responses of Responder, ReplyStream and RequestBody arrive.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <exception>
#include <string_view>
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

/// One loop's way through the routes.
class RouteHandler final : public LateReplies {
 public:
  /// @param routes outlive this object
  /// @param errors how their errors look; outlive it, too
  /// @param others what those are asked by that no route answers: for "OPTIONS *"
  RouteHandler(const Routes& routes, const ErrorFormats& errors, MethodSet others);

  /// Answers `exchange`, before this returns or later. @return false: no route has its path, and
  /// nothing was done.
  auto TryHandle(Exchange& exchange) -> bool;

  /// Answers `exchange`, whose body can't be read, by an error page, if TryHandle() has taken it.
  /// @param exchange whose body it is
  /// @param status of the page
  /// @param reason for its text
  /// @return false: no route has its path, and nothing was done
  auto TryRefuse(Exchange& exchange, int status, const std::string& reason) -> bool;

  void BringBody(Exchange& exchange, BodyCallback callback) override;
  void ReplyLate(Exchange& exchange, ServerResponse& response) noexcept override;
  void BeginLate(Exchange& exchange, ServerResponse& head) noexcept override;

 private:
  void Answer(Exchange& exchange, const RouteMatch& match);
  void Begin(Exchange& exchange, const RouteMatch& match, const ServerRequest& request);
  void Collect(Exchange& exchange);
  void Receive(Exchange& exchange, const ServerRequest& request, const UploadAction& action);
  void Run(Exchange& exchange, const RouteMatch& match, std::string_view body);
  template <typename Handler>
  void ReplyNow(Exchange& exchange, const ServerRequest& request, const Handler& handler);
  template <typename Handler>
  void ReplyLater(Exchange& exchange, const ServerRequest& request, const RouteOptions& options,
                  const Handler& handler);
  void Reply(Exchange& exchange, const ServerRequest& request, ServerResponse& response,
             std::size_t entered = MiddlewareChain::kAll);
  template <typename Send>
  void AnswerLate(Exchange& exchange, ServerResponse& response, const Send& send) noexcept;
  auto Match(const Exchange& exchange) -> RouteMatch;

  const Routes& routes_;
  Router router_;
  std::vector<MiddlewareChain> groups_;
  MethodSet server_methods_;
  // Of the request that is looked at, or answered, now.
  const MiddlewareChain* around_ = nullptr;
  RequestFields fields_;
  ServerResponse response_;
};

}  // namespace TURTLE_SERVER
