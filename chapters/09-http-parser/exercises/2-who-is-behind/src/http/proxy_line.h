// The client's address from a proxy: the line that HAProxy and others send before the first byte of
// their client (PROXY protocol, version 1).
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
  kBad,       ///< no such line, whatever may follow: close
};

/// A line, as far as it is there.
struct ProxyLine {
  ProxyLineState state = ProxyLineState::kNeedMore;  ///< which of the three
  std::size_t size = 0;                              ///< kDone: its bytes, CR LF included
  /// kDone: who is behind the proxy; nullopt when it doesn't say.
  std::optional<NetAddress> client{};
};

/// Looks for the line at the beginning of `input`.
/// @param input all that came on the connection so far
[[nodiscard]] auto ParseProxyLine(std::string_view input) -> ProxyLine;

}  // namespace TURTLE_SERVER
