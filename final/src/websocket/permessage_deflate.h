// The terms on which two ends compress messages: permessage-deflate.
//
// The client offers the extension, perhaps several times with different parameters, the best first:
//
//     Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits
//
// Interface:
//  * AgreeOnDeflate() chooses the first offer that the server can keep.
//  * TextOf() returns the terms for the response.
//
// Each direction has its own window, and its own answer to the question whether a message may refer
// to those before it (context takeover). With it, short messages that resemble each other become
// much shorter, and each connection keeps a window in memory for each direction.
//
// Thread: pure functions.
// Source: RFC 7692, section 7.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The terms that the server would accept.
struct DeflateOptions {
  bool enabled = true;           ///< false: nothing is compressed
  bool server_takeover = false;  ///< keep a deflater, up to 256 KiB, for each connection
  bool client_takeover = false;  ///< keep an inflater, up to 44 KiB, for each connection
  int server_window_bits = 15;   ///< of the server's messages, 8 to 15
  int client_window_bits = 15;   ///< of the client's messages, 8 to 15, if it can be told
  std::size_t min_bytes = 128;   ///< shorter messages are sent as they are
};

/// The terms of one connection.
struct DeflateTerms {
  bool server_takeover = true;           ///< the server's messages may refer to earlier ones
  bool client_takeover = true;           ///< the client's may
  std::uint8_t server_window_bits = 15;  ///< of the server's messages
  std::uint8_t client_window_bits = 15;  ///< of the client's
  bool has_server_bits = false;          ///< the response says server_max_window_bits
  bool has_client_bits = false;          ///< it says client_max_window_bits
};

/// Chooses an offer.
/// @param offers the value of Sec-WebSocket-Extensions
/// @param options what the server is willing to do
/// @return nullopt: there is none that it understands
[[nodiscard]] auto AgreeOnDeflate(std::string_view offers, const DeflateOptions& options)
    -> std::optional<DeflateTerms>;

/// Returns the terms as a value of Sec-WebSocket-Extensions.
[[nodiscard]] auto TextOf(const DeflateTerms& terms) -> std::string;

/// Reads the server's response, for a client that has offered everything.
/// @return nullopt: it has another extension, or parameters that don't exist
[[nodiscard]] auto ReadDeflateResponse(std::string_view response) -> std::optional<DeflateTerms>;

}  // namespace TURTLE_SERVER
