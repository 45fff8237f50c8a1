#include "web/one_name.h"

#include <utility>

#include "web/exchange.h"

namespace TURTLE_SERVER {

OneName::OneName(std::string host, std::unique_ptr<RequestHandler> next)
    : host_(std::move(host)), next_(std::move(next)) {}

void OneName::Handle(Exchange& exchange) {
  next_->Handle(exchange);  // TODO
}

}  // namespace TURTLE_SERVER
