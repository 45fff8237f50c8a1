// The response to one request, to be given at any time, from any thread.
//
//   server.Get("/slow", [&pool](const ServerRequest& req, Responder responder) {
//     pool.Submit([responder, name = std::string(req.Parameter("name"))] {
//       responder.Reply(ServerResponse().Text(Ask(name)));
//     });
//   });
//
// Interface:
//  * Reply() answers, once. If the client has gone by then, nothing happens.
//  * Stream() answers in pieces.
//  * OnGone() reports that the client has gone.
//  * When the last copy goes and nobody has answered, the client gets a 500.
//
// It holds no pointer to the exchange, but a ticket for it (web/exchange_ticket.h). The response
// goes to the loop as a task.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <memory>

#include "core/mailbox.h"
#include "web/reply_stream.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

class Exchange;
class LateReplies;

/// The right to answer one request. Copies share it.
class Responder {
 public:
  /// For the routes, on the loop's thread.
  /// @param exchange to be answered
  /// @param handler of that loop, which does it
  Responder(const Exchange& exchange, LateReplies& handler);

  /// Answers. Throws std::bad_alloc only, and may then be called again.
  /// @return false: a response was given before, and this one is dropped; or the server has ended.
  ///     True does not mean that the client is still there.
  auto Reply(ServerResponse response) const -> bool;

  /// Has `callback` called when nobody waits for the response any more: the client has gone before
  /// it had all of it, the response was cut, RouteOptions::response_timeout has passed, or a body
  /// was refused. If that has happened already, it is called soon. A Responder that has answered
  /// before drops it. Throws std::bad_alloc only.
  /// @param callback called once, on the loop's thread; if the loop has ended, at once on this one
  void OnGone(const Task& callback) const;

  /// Begins a response whose body is written later. Throws std::bad_alloc only.
  /// @param head status and fields; its body is the first piece
  /// @return the right to write it; StreamState::kGone if a response was given before
  [[nodiscard]] auto Stream(ServerResponse head) const -> ReplyStream;

 private:
  class Shot;

  std::shared_ptr<Shot> shot_;  // shared by the copies: std::function wants its contents copyable
};

}  // namespace TURTLE_SERVER
