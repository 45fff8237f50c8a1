// Decides whether a request may become a WebSocket.
//
//     GET /chat HTTP/1.1                     HTTP/1.1 101 Switching Protocols
//     Connection: Upgrade                    Connection: upgrade
//     Upgrade: websocket                     Upgrade: websocket
//     Sec-WebSocket-Version: 13              Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
//     Sec-WebSocket-Key: dGhlIHNhbXBsZS...
//
// Interface:
//  * CheckHandshake() returns the refusal, if there is one.
//  * IsAllowedOrigin() decides which pages may connect.
//  * Agree() returns what was agreed on, and AcceptFields() the fields of the 101.
//
// A browser lets any page connect to any server, and sends the server's cookies along. So the
// server must look at Origin, which a script can't set, or any page could act in its visitor's
// name.
//
// Thread: pure functions.
// Source: RFC 6455, sections 4.2 and 10.2.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.h"
#include "http/response.h"
#include "websocket/permessage_deflate.h"
#include "websocket/websocket_options.h"

namespace TURTLE_SERVER {

/// The version of the protocol.
inline constexpr std::string_view kWebSocketVersion = "13";

/// Checks a request for a path of WebSockets.
/// @param request any
/// @param options of the path
/// @return nullopt, or the response that refuses it. 405: it is no GET. 426: it lacks
///     `Upgrade: websocket`, or has another version. 400: a field is missing or malformed, or it
///     has content, or it ends the connection. 403: it comes from the wrong page.
[[nodiscard]] auto CheckHandshake(const Request& request, const WebSocketOptions& options)
    -> std::optional<Response>;

/// Returns true if a page of this origin may connect.
/// @param origin the field's value
/// @param host the request's field Host
/// @param allowed WebSocketOptions::origins
[[nodiscard]] auto IsAllowedOrigin(std::string_view origin, std::string_view host,
                                   const std::vector<std::string>& allowed) noexcept -> bool;

/// The result of a handshake.
struct Agreement {
  static constexpr std::size_t kNoProtocol = static_cast<std::size_t>(-1);  ///< none

  std::size_t protocol = kNoProtocol;     ///< index of the subprotocol in the options
  std::optional<DeflateTerms> deflate{};  ///< nullopt: nothing is compressed
};

/// Agrees with a request for which CheckHandshake() has returned nullopt.
[[nodiscard]] auto Agree(const Request& request, const WebSocketOptions& options) -> Agreement;

/// Returns the fields of the response, for Exchange::Upgrade().
/// @param request as for Agree()
/// @param options of the path
/// @param agreement the result of Agree()
[[nodiscard]] auto AcceptFields(const Request& request, const WebSocketOptions& options,
                                const Agreement& agreement) -> Response;

}  // namespace TURTLE_SERVER
