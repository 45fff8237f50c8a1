// The body of a request, taken while it comes.
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
//  * OnPiece() says who takes it. Without that it is not read before the response, and a client
//    that waits for leave to send it gets none.
//  * Hold() and Resume() make the client wait: bytes that are not read here stay in its kernel.
//
// Thread: Resume() from any, the rest from the loop's.
#pragma once

#include <utility>

#include "web/exchange.h"
#include "web/exchange_ticket.h"
#include "web/late_replies.h"

namespace TURTLE_SERVER {

/// The right to take the body of one request. Copies share it.
class RequestBody {
 public:
  /// For the routes.
  /// @param exchange whose body it is
  /// @param handler of that loop, which answers what a callback throws
  RequestBody(Exchange& exchange, LateReplies& handler)
      : exchange_(&exchange), handler_(&handler), ticket_(exchange) {}

  /// Has each piece brought to `callback`, when the handler has returned. It is called at least
  /// once, and for the last time with `last`; or no more, because the request was answered or the
  /// client has gone. It may throw, as a handler. Within the handler.
  void OnPiece(BodyCallback callback) const {
    handler_->BringBody(*exchange_, std::move(callback));
  }

  /// Has no piece brought until Resume(). The client's time to send it does not count meanwhile.
  /// Within the handler or the callback of OnPiece().
  void Hold() const { exchange_->HoldBody(true); }

  /// Has pieces brought again. Throws std::bad_alloc only. If the request has been answered, or the
  /// client has gone, nothing happens.
  void Resume() const {
    // False: the loop has ended, and nobody sends any more.
    static_cast<void>(ticket_.Post([](Exchange* exchange) {
      if (exchange != nullptr) {
        exchange->HoldBody(false);
      }
    }));
  }

 private:
  Exchange* exchange_;  // as long as it is open, which it is wherever this is used
  LateReplies* handler_;
  ExchangeTicket ticket_;
};

}  // namespace TURTLE_SERVER
