#include "web/relay.h"

#include "http/response.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

void Relay::Handle(Exchange& exchange) {
  exchange.Reply(ErrorResponse(501));  // TODO
}

}  // namespace TURTLE_SERVER
