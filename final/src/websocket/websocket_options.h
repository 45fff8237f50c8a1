// The limits and timeouts of the WebSockets under one path.
//
// Thread: values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/connection.h"
#include "core/min_rate.h"
#include "websocket/permessage_deflate.h"

namespace TURTLE_SERVER {

/// The fate of a message for a client that reads more slowly than the server sends.
enum class Overflow : std::uint8_t {
  kClose,  ///< the client is closed with 1008: it would miss messages otherwise
  kDrop,   ///< the message is dropped, and later ones are sent again when there is room
  kWait,   ///< the message is queued, up to max_unsent_bytes; CanSend() and on_room slow the sender
};

/// Limits and timeouts. A timeout of 0 means never.
struct WebSocketOptions {
  /// The pages that may connect, such as "https://example.org", compared with the field Origin;
  /// "*": any. Empty: only pages of this server, whose Origin names the same host and port as the
  /// request. A program that sends no Origin is always let in: it could send any.
  std::vector<std::string> origins{};
  std::vector<std::string>
      protocols{};  ///< subprotocols; the client's first that is listed is used
  std::size_t max_message_bytes = std::size_t{1} << 20;  ///< decompressed; beyond it, 1009
  std::size_t max_fragments = 4096;                      ///< frames of one message; beyond it, 1008
  std::chrono::milliseconds ping_interval{30'000};       ///< of silence, after which a Ping is sent
  std::chrono::milliseconds pong_timeout{10'000};        ///< of further silence: the client is gone
  std::chrono::milliseconds idle_timeout{0};             ///< without a message in any direction
  std::chrono::milliseconds close_timeout{5'000};        ///< for the client's Close after ours
  std::chrono::milliseconds write_timeout{30'000};       ///< for a client that reads nothing
  std::uint64_t min_send_rate = kMinRate;  ///< bytes per second that a client must read in the end
  std::chrono::milliseconds message_timeout{30'000};  ///< for a message below its rate; then 1008
  std::uint64_t min_message_rate = kMinRate;  ///< bytes per second that a message must come in

  /// The unsent bytes above which `overflow` decides. At least Connection::kHighWater: up to there
  /// the loop doesn't report room.
  std::size_t high_water = std::size_t{1} << 20;
  Overflow overflow = Overflow::kClose;                  ///< see Overflow
  std::size_t max_unsent_bytes = std::size_t{16} << 20;  ///< of Overflow::kWait; then as kClose
  DeflateOptions deflate{};                              ///< compression
};

/// Returns the same options, with a high-water mark that the loop can report.
/// @throws std::invalid_argument with the name and the value: a timeout is negative, a subprotocol
///     is no token, the protocol doesn't know a window, or Overflow::kWait has a max_unsent_bytes
///     below its high-water mark
[[nodiscard]] auto Checked(WebSocketOptions options) -> WebSocketOptions;

}  // namespace TURTLE_SERVER
