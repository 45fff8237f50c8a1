#include "web/https_redirect.h"

#include <memory>

#include "http/response.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

namespace {

class Redirect final : public RequestHandler {
 public:
  void Handle(Exchange& exchange) override {
    exchange.Reply(ErrorResponse(501));  // TODO: check the host, and redirect
  }
};

}  // namespace

auto HttpsRedirect(std::uint16_t /*https_port*/) -> HandlerFactory {
  return [](Looper&) { return std::make_unique<Redirect>(); };
}

}  // namespace TURTLE_SERVER
