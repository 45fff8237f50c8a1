// Reads the client's address from a proxy's line, which HAProxy and others send before the client's
// first byte (PROXY protocol, version 1).
//
//   PROXY TCP4 192.0.2.1 192.0.2.7 51234 443 CR LF
//
// Thread: a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/net_address.h"

namespace TURTLE_SERVER {

/// The result for the bytes so far.
enum class ProxyLineState : std::uint8_t {
  kNeedMore,  ///< the beginning of a line: come back with more
  kDone,      ///< a whole line
  kBad,       ///< not such a line, whatever follows: close
};

/// A line, as far as it has arrived.
struct ProxyLine {
  ProxyLineState state = ProxyLineState::kNeedMore;  ///< which of the three
  std::size_t size = 0;                              ///< kDone: its bytes, including CR LF
  /// kDone: the client of the proxy; nullopt if the line doesn't contain it.
  std::optional<NetAddress> client{};
};

/// Looks for the line at the beginning of `input`.
/// @param input everything received on the connection so far
[[nodiscard]] auto ParseProxyLine(std::string_view input) -> ProxyLine;

}  // namespace TURTLE_SERVER
