#include "web/request_body.h"

#include <utility>

#include "web/late_replies.h"

namespace TURTLE_SERVER {

void RequestBody::OnPiece(BodyCallback callback) const {
  handler_->BringBody(*exchange_, std::move(callback));
}

void RequestBody::Resume() const {
  // False: the loop has ended, and nobody sends any more.
  static_cast<void>(ticket_.Post([](Exchange* exchange) {
    if (exchange != nullptr) {
      exchange->HoldBody(false);
    }
  }));
}

}  // namespace TURTLE_SERVER
