// Clients that wait for the next text: long polling.
//
//   server.Get("/next/{after:int}", [&poll](const ServerRequest& req, const Responder& responder) {
//     poll.Wait(req.Integer("after"), responder);
//   });
//   server.Post("/say", [&poll](const ServerRequest& req, ServerResponse& res) {
//     res.Json(poll.Say(req.Body()));
//   });
//
// Thread: any, several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "web/responder.h"

namespace TURTLE_SERVER {

/// Texts, numbered from 1 on, and the clients that wait for the next one.
class LongPoll {
 public:
  /// @param max_waiting how many clients may wait at once
  explicit LongPoll(std::size_t max_waiting);

  LongPoll(const LongPoll&) = delete;
  auto operator=(const LongPoll&) -> LongPoll& = delete;
  ~LongPoll();  ///< Call it after the server has ended.

  /// Responds with the last text if its number is above `after`, else with the next one:
  /// {"number": 7, "text": "…"}. A client that is gone is forgotten at once.
  ///
  /// If `max_waiting` clients are already waiting, the response is 503 with "Retry-After: 1"; after
  /// End() it is 204.
  /// @param after the number of the client's last text
  /// @param responder of its request
  void Wait(std::int64_t after, const Responder& responder);

  /// Sends the next text to all waiting clients.
  /// @return its number
  auto Say(std::string_view text) -> std::int64_t;

  /// Responds 204 to all waiting clients, so that the server can stop.
  void End();

  /// Returns how many clients wait.
  [[nodiscard]] auto Waiting() const -> std::size_t;

 private:
  class Room;

  const std::shared_ptr<Room> room_;  // yours
};

}  // namespace TURTLE_SERVER
