#include "web/group_handler.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "log/log.h"

namespace TURTLE_SERVER {

GroupHandler::GroupHandler(MiddlewareChain chain, std::unique_ptr<RequestHandler> handler)
    : chain_(std::move(chain)), has_after_(chain_.HasAfter()), handler_(std::move(handler)) {}

void GroupHandler::Handle(Exchange& exchange) {
  const ServerRequest request(exchange, {}, {}, fields_);
  ServerResponse response;
  if (const std::optional<std::size_t> entered = chain_.Enter(request, response)) {
    chain_.Leave(request, response, *entered);
    exchange.Reply(response.Whole());
    return;
  }
  if (has_after_) {
    exchange.Filter(this);
  }
  try {
    handler_->Handle(exchange);
  } catch (...) {
    if (exchange.Begun()) {
      throw;  // nothing can be sent any more: the exchange is cut
    }
    chain_.Catch(request, response);
    exchange.Abort(response.Whole());  // by OnReply()
  }
}

void GroupHandler::OnReply(Exchange& exchange, ServerResponse& response) noexcept {
  try {
    const ServerRequest request(exchange, {}, {}, fields_);  // the request may have moved
    chain_.Leave(request, response);
  } catch (...) {
    LogException("middleware");
  }
}

auto MakeMounted(const Routes& routes, const Routes::Mount& mount, const ErrorFormats& errors,
                 Looper& looper) -> std::unique_ptr<RequestHandler> {
  auto handler = mount.factory(looper);
  if (mount.group) {
    MiddlewareChain chain(routes.Around(*mount.group), errors);
    if (!chain.Empty()) {
      return std::make_unique<GroupHandler>(std::move(chain), std::move(handler));
    }
  }
  return handler;
}

}  // namespace TURTLE_SERVER
