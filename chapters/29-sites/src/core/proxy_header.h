// The PROXY protocol: how a proxy tells the address of its client.
//
// A proxy that forwards bytes, such as HAProxy in TCP mode or a cloud's load balancer, hides the
// client: the server sees the proxy's address. So the proxy sends a header before the client's
// first byte, https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt. Version 1 is a line of
// text, version 2 is binary.
//
// Nothing in the header proves who has sent it. It must only be read from proxies that are trusted.
//
// Interface:
//  * ParseProxyHeader() reads a header from the beginning of a stream.
//
// Thread: a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/net_address.h"

namespace TURTLE_SERVER {

/// The longest header of version 1, with its line end.
constexpr std::size_t kMaxProxyLine = 107;

/// The longest header of version 2 that is accepted, with its options (TLVs), which are skipped.
constexpr std::size_t kMaxProxyHeader = 2048;

/// A header, or the reason why there is none.
struct ProxyHeader {
  /// How far the header was read.
  enum class State : std::uint8_t {
    kMore,  ///< The bytes so far begin a header.
    kDone,  ///< The header is complete.
    kBad    ///< The bytes are no header, or one that can't be used.
  };

  State state = State::kMore;  ///< How far it was read.
  std::size_t bytes = 0;       ///< kDone: its length.
  /// kDone: the client's address. Empty if the proxy speaks for itself (LOCAL: a health check), or
  /// doesn't know the client (UNKNOWN, UNSPEC, a Unix socket).
  NetAddress source{};
  const char* reason = "";  ///< kBad: what is wrong, for the log; lives as long as the program
};

/// Reads the header at the beginning of `input`, of either version. Bytes that begin no header are
/// refused with the first one that is wrong. So is a binary header; its length is wrong once both
/// bytes of it are there. A line is refused when it ends, or at kMaxProxyLine bytes without an end.
[[nodiscard]] auto ParseProxyHeader(std::string_view input) noexcept -> ProxyHeader;

}  // namespace TURTLE_SERVER
