#include "web/news.h"

#include "web/exchange.h"

namespace TURTLE_SERVER {

void News::Publish(std::string_view /*text*/) {}  // TODO

NewsHandler::NewsHandler(Looper& /*looper*/, News& /*news*/,
                         std::chrono::milliseconds /*patience*/) {}  // TODO

NewsHandler::~NewsHandler() = default;  // TODO

void NewsHandler::Handle(Exchange& exchange) {
  exchange.Reply(ErrorResponse(501));  // TODO
}

auto NewsHandler::Waiting() const -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
