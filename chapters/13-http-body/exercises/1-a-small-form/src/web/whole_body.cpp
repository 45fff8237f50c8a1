#include "web/whole_body.h"

#include "http/response.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

void TakeWhole(Exchange& exchange, std::size_t /*limit*/,
               std::function<void(std::string body)> /*then*/) {
  exchange.Reply(ErrorResponse(501));  // TODO
}

}  // namespace TURTLE_SERVER
