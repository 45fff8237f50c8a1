// Receives the body of a request while it arrives.
//
//   server.Put("/film", [&pool](const ServerRequest&, const RequestBody& body,
//                               const Responder& responder) {
//     body.OnPiece([&pool, body, responder](std::string_view piece, bool last) {
//       body.Hold();
//       pool.Submit([body, responder, last, bytes = std::string(piece)] {
//         Store(bytes);
//         last ? void(responder.Reply(ServerResponse(204))) : body.Resume();
//       });
//     });
//   });
//
// Interface:
//  * OnPiece() sets the receiver. Without one, the body is not read before the response, and a
//    client that waits for "100 Continue" doesn't get it.
//  * Hold() and Resume() make the client wait: unread bytes stay in its kernel.
//
// Thread: Resume() on any thread, the rest on the loop's.
#pragma once

#include <utility>

#include "web/exchange.h"
#include "web/exchange_ticket.h"
#include "web/late_replies.h"

namespace TURTLE_SERVER {

/// The right to receive the body of one request. Copies share it.
class RequestBody {
 public:
  /// For the routes.
  /// @param exchange of the body
  /// @param handler of that loop, which responds to a callback's exceptions
  RequestBody(Exchange& exchange, LateReplies& handler)
      : exchange_(&exchange), handler_(&handler), ticket_(exchange) {}

  /// Delivers each piece to `callback` after the handler has returned. It is called at least once,
  /// and the last time with `last`; calls end early if the request got its response or the client
  /// is gone. It may throw, as a handler may. Within the handler.
  void OnPiece(BodyCallback callback) const {
    handler_->BringBody(*exchange_, std::move(callback));
  }

  /// Stops delivery until Resume(). The client's deadline for the body is suspended meanwhile.
  /// Within the handler or the callback of OnPiece().
  void Hold() const { exchange_->HoldBody(true); }

  /// Resumes delivery. Throws only std::bad_alloc. Does nothing if the request has got its
  /// response, or the client is gone.
  void Resume() const {
    // False: the loop has ended, and no client sends any more.
    static_cast<void>(ticket_.Post([](Exchange* exchange) {
      if (exchange != nullptr) {
        exchange->HoldBody(false);
      }
    }));
  }

 private:
  Exchange* exchange_;  // valid while it is open, which it is wherever this is used
  LateReplies* handler_;
  ExchangeTicket ticket_;
};

}  // namespace TURTLE_SERVER
