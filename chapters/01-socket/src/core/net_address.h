// An IPv4 or IPv6 address with a port, in the form that system calls take.
//
// Interface:
//  * NetAddress("127.0.0.1", 80), ("::1", 80), ("fe80::1%eth0", 80), ("localhost", 80): from
//    numbers or a name. A value that can't be parsed causes an exception that names it; nothing
//    ever becomes 0.0.0.0 by accident.
//  * NetAddress(): empty, for calls that fill it in, such as Socket::Accept().
//  * Ip(), Port(), ToString(): for people. Data(), Size(), Length(): for system calls.
//
// Thread: a value; one thread at a time for each object.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Which version of the Internet Protocol an address may belong to.
enum class Protocol {
  Any,   ///< as spelled; for a name that has both kinds, its IPv4 address
  Ipv4,  ///< IPv4 only
  Ipv6,  ///< IPv6 only
};

/// An address and a port: 32 bytes, cheap to copy.
class NetAddress {
 public:
  /// Makes an empty address: Family() is AF_UNSPEC, and the kernel can fill it in.
  NetAddress() noexcept;

  /// Parses a number or looks up a name. A name may need a DNS query, and this call waits for its
  /// result: resolve names before serving, not while serving.
  ///
  /// @param host a dotted quad, an IPv6 address (with a scope, "fe80::1%eth0", if it needs one) or
  ///     a name. Short and odd spellings of IPv4 ("127.1", "0", "0x7f.0.0.1", "127.0.0.1.") are
  ///     refused, and so are an empty name and one that contains a NUL.
  /// @param port 0 to 65535; 0 makes Bind() choose any free port.
  /// @param protocol the kind of address that is wanted.
  /// @throws std::invalid_argument if the spelling or the port is wrong, std::runtime_error if the
  ///     name has no such address; the text names the value.
  NetAddress(const std::string& host, int port, Protocol protocol = Protocol::Any);

  /// Returns AF_INET, AF_INET6, or AF_UNSPEC when empty.
  [[nodiscard]] auto Family() const -> int;

  /// Returns the port in host byte order, or 0.
  [[nodiscard]] auto Port() const -> int;

  /// Returns the address alone, "127.0.0.1" or "fe80::1%eth0"; "" when empty.
  [[nodiscard]] auto Ip() const -> std::string;

  /// Returns address and port, "127.0.0.1:80" or "[::1]:80" (RFC 3986, section 3.2.2); "(no
  /// address)" when empty.
  [[nodiscard]] auto ToString() const -> std::string;

  /// Returns the bytes, for a system call that fills the address in.
  [[nodiscard]] auto Data() -> sockaddr* { return &address_.any; }

  /// Returns the bytes, for a system call that reads the address.
  [[nodiscard]] auto Data() const -> const sockaddr* { return &address_.any; }

  /// Returns the length, which such a call updates. Before the call it must hold the available
  /// room, as it does in an empty NetAddress.
  [[nodiscard]] auto Length() -> socklen_t* { return &length_; }

  /// Returns how many bytes at Data() are valid.
  [[nodiscard]] auto Size() const -> socklen_t { return length_; }

  /// True for the same family, address, port and, with IPv6, scope.
  auto operator==(const NetAddress& other) const -> bool;

  /// The opposite of ==.
  auto operator!=(const NetAddress& other) const -> bool { return !(*this == other); }

 private:
  // Not sockaddr_storage, whose 128 bytes have room for address families that nobody uses here.
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } address_;
  socklen_t length_;
};

static_assert(sizeof(NetAddress) == 32, "one for every client: keep it small");

}  // namespace TURTLE_SERVER
