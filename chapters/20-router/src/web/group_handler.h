// Wraps a mounted handler in the middleware of its group.
//
// The handler doesn't notice: its response passes through here when it begins, and `after` may
// change its head or give it another body. Routes run their middleware without this class
// (web/route_handler.h).
//
// Thread: the loop's.
#pragma once

#include <memory>

#include "web/error_formats.h"
#include "web/exchange.h"
#include "web/middleware_chain.h"
#include "web/request_handler.h"
#include "web/routes.h"
#include "web/server_request.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

/// Runs middleware around a handler of one loop.
class GroupHandler final : public RequestHandler, private ReplyFilter {
 public:
  /// @param chain the group's middleware
  /// @param handler not nullptr
  GroupHandler(MiddlewareChain chain, std::unique_ptr<RequestHandler> handler);

  void Handle(Exchange& exchange) override;

 private:
  void OnReply(Exchange& exchange, ServerResponse& response) noexcept override;

  const MiddlewareChain chain_;
  const bool has_after_;
  const std::unique_ptr<RequestHandler> handler_;
  RequestFields fields_;
};

/// Makes the handler of a mount for one loop, with the middleware of its group around it.
/// @param routes of the server; outlive the handler
/// @param mount one of these routes' mounts
/// @param errors formats of error pages; outlive the handler
/// @param looper for the factory
/// @return the handler
[[nodiscard]] auto MakeMounted(const Routes& routes, const Routes::Mount& mount,
                               const ErrorFormats& errors, Looper& looper)
    -> std::unique_ptr<RequestHandler>;

}  // namespace TURTLE_SERVER
