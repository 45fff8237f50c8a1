// The newest values for a client that can't keep up.
//
//   feed.on_open = [](WebSocket& socket) {
//     socket.SetData(std::make_shared<LatestValues>(socket));
//   };
//   feed.on_room = [](WebSocket& socket) { socket.Data<LatestValues>()->OnRoom(); };
//   ...
//   socket.Data<LatestValues>()->Send("EUR", R"({"EUR": 1.0842})");
//
// Prices, positions and scores change many times a second. A client on a slow network can't have
// all of them: queued ones would be old when they arrive, and Overflow::kDrop drops any, perhaps
// the last one before a pause of an hour. But a new value of a key makes an older one useless. So
// the server keeps one value per key until there is room.
//
// The keys are the server's. A client that could choose them could fill the memory.
//
// Interface:
//  * Send() sends a value, or keeps it.
//  * OnRoom() sends what was kept.
//  * Waiting() and Replaced() count.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "websocket/websocket.h"

namespace TURTLE_SERVER {

/// The values on their way to one client.
class LatestValues {
 public:
  /// @param socket of the client; none of the functions may be called after it has gone
  explicit LatestValues(WebSocket& socket);

  ~LatestValues();
  LatestValues(const LatestValues&) = delete;
  auto operator=(const LatestValues&) -> LatestValues& = delete;

  /// Sends a value as a text message. If no value waits and WebSocket::CanSend() is true, it is
  /// sent at once, and this class allocates nothing.
  ///
  /// Otherwise it waits, even if there is room by now: values that wait come first. If a value of
  /// the same key waits, the new one replaces it and gets its turn. Otherwise its turn comes last.
  /// However many values wait, the time that this takes doesn't grow with them, or hardly.
  ///
  /// If the socket is not open, no value waits any more, nor does this one.
  ///
  /// @param key names the value; isn't sent
  /// @param text the message, UTF-8
  /// @throws std::bad_alloc
  void Send(std::string_view key, std::string_view text);

  /// Sends the values that wait, in their turn, as long as CanSend() is true. For on_room.
  void OnRoom();

  /// Returns how many values wait.
  [[nodiscard]] auto Waiting() const noexcept -> std::size_t;

  /// Returns how many values were replaced, and so never sent.
  [[nodiscard]] auto Replaced() const noexcept -> std::uint64_t;

 private:
  WebSocket& socket_;
  // TODO: more
};

}  // namespace TURTLE_SERVER
