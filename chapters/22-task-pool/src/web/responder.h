// Responds to one request, at any time, from any thread.
//
//   server.Get("/slow", [&pool](const ServerRequest& req, Responder responder) {
//     pool.Submit([responder, name = std::string(req.Parameter("name"))] {
//       responder.Reply(ServerResponse().Text(Ask(name)));
//     });
//   });
//
// Interface:
//  * Reply() sends the response, once. If the client is gone by then, nothing happens.
//  * Fail() responds to an exception as if the handler had thrown it on the loop.
//  * Stream() responds in pieces.
//  * OnGone() reports that the client is gone.
//  * If the last copy is destroyed without a response, the client gets a 500.
//
// It holds a ticket for the exchange (web/exchange_ticket.h) and no pointer to it. The response
// goes to the loop as a task.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

#include "core/mailbox.h"
#include "web/reply_stream.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

class Exchange;
class LateReplies;

/// The right to respond to one request. Copies share it.
class Responder {
 public:
  /// For the routes, on the loop's thread.
  /// @param exchange to respond to
  /// @param handler of that loop, which sends the response
  Responder(const Exchange& exchange, LateReplies& handler);

  /// Responds. Throws only std::bad_alloc, and may then be called again.
  /// @return false if a response was given before, and this one is dropped, or if the server has
  ///     ended. True does not mean that the client is still there.
  auto Reply(ServerResponse response) const -> bool;

  /// Responds to an exception: HttpError gives its status, anything else a logged 500. Middleware
  /// sees it, on the loop's thread. Throws only std::bad_alloc.
  /// @param thrown std::current_exception()
  /// @return as Reply()
  auto Fail(std::exception_ptr thrown) const -> bool;

  /// Calls `callback` when the response is no longer needed: the client has left before it had all
  /// of it, the response was cut, RouteOptions::response_timeout has passed, or a body was refused.
  /// If that has already happened, it is called soon. A Responder that has already responded drops
  /// it. Throws only std::bad_alloc.
  /// @param callback called once, on the loop's thread; if the loop has ended, at once on this one
  void OnGone(const Task& callback) const;

  /// Begins a response whose body is written later. Throws only std::bad_alloc.
  /// @param head status and fields; its body is the first piece
  /// @return the right to write it; StreamState::kGone if a response was given before
  [[nodiscard]] auto Stream(ServerResponse head) const -> ReplyStream;

 private:
  class Shot;

  std::shared_ptr<Shot> shot_;  // shared by the copies: std::function requires copyable contents
};

}  // namespace TURTLE_SERVER
