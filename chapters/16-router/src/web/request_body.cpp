#include "web/request_body.h"

#include <utility>

#include "web/http_session.h"
#include "web/route_handler.h"

namespace TURTLE_SERVER {

void RequestBody::OnPiece(BodyCallback callback) const {
  handler_->BringBody(*exchange_, std::move(callback));
}

void RequestBody::Resume() const {
  // False: the loop has ended, and nobody sends any more.
  static_cast<void>(ticket_.Post([number = number_](Connection* client) {
    auto& session = *static_cast<HttpSession*>(client->State());
    if (Exchange* exchange = session.FindOpen(number)) {
      exchange->HoldBody(false);
    }
  }));
}

}  // namespace TURTLE_SERVER
