// An IPv4 or IPv6 address with a port, in the form that the kernel wants.
//
// Interface:
//  * NetAddress("127.0.0.1", 80), ("::1", 80), ("fe80::1%eth0", 80), ("localhost", 80): from
//    numbers or a name. A value that can't be understood causes an exception that names it; nothing
//    ever turns into 0.0.0.0 by accident.
//  * NetAddress(): empty, for calls that fill it in, such as Socket::Accept().
//  * Ip(), Port(), ToString(): for people. Data(), Size(), Length(): for system calls.
//
// A client of a Unix-domain socket, unix(7), is "unix:": such clients have no name that says more.
// See core/unix_listener.h.
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
  Any,   ///< as the spelling says; a name that has both kinds gives its IPv4 address
  Ipv4,  ///< IPv4 only
  Ipv6,  ///< IPv6 only
};

/// An address and a port. 32 bytes, cheap to copy.
class NetAddress {
 public:
  /// No address: Family() is AF_UNSPEC, and there is room for the kernel to fill one in.
  NetAddress() noexcept;

  /// Understands a number or looks up a name. A name may need a DNS query, and this call waits for
  /// its result: resolve before serving, not while.
  ///
  /// @param host a dotted quad, an IPv6 address (with a scope, "fe80::1%eth0", if it needs one) or
  ///     a name. Short and odd spellings of IPv4 ("127.1", "0", "0x7f.0.0.1", "127.0.0.1.") are
  ///     refused, and so are an empty one and one with a NUL in it.
  /// @param port 0 to 65535; 0 asks Bind() for any free port.
  /// @param protocol which kind of address is wanted.
  /// @throws std::invalid_argument when the spelling or the port is wrong, std::runtime_error when
  ///     the name has no such address; the text names the value.
  NetAddress(const std::string& host, int port, Protocol protocol = Protocol::Any);

  /// AF_INET, AF_INET6, AF_UNIX, or AF_UNSPEC when empty.
  [[nodiscard]] auto Family() const -> int;

  /// The port in the order of this machine, or 0.
  [[nodiscard]] auto Port() const -> int;

  /// The address alone, "127.0.0.1", "fe80::1%eth0" or "unix:"; "" when empty.
  [[nodiscard]] auto Ip() const -> std::string;

  /// Address and port, "127.0.0.1:80" or "[::1]:80" (RFC 3986, section 3.2.2); "unix:"; "(no
  /// address)" when empty.
  [[nodiscard]] auto ToString() const -> std::string;

  /// The bytes for a system call that fills the address in.
  [[nodiscard]] auto Data() -> sockaddr* { return &address_.any; }

  /// The bytes for a system call that reads the address.
  [[nodiscard]] auto Data() const -> const sockaddr* { return &address_.any; }

  /// The length that such a call updates. It has to hold the room there is before the call, as it
  /// does in an empty NetAddress.
  [[nodiscard]] auto Length() -> socklen_t* { return &length_; }

  /// How many bytes at Data() count. Of a path there may be more than have room here.
  [[nodiscard]] auto Size() const -> socklen_t {
    return length_ < sizeof(address_) ? length_ : sizeof(address_);
  }

  /// True for the same family, address, port and, with IPv6, scope.
  auto operator==(const NetAddress& other) const -> bool;

  /// The opposite of ==.
  auto operator!=(const NetAddress& other) const -> bool { return !(*this == other); }

 private:
  // Not sockaddr_storage, which is 128 bytes to have room for address families nobody here uses.
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } address_;
  socklen_t length_;
};

static_assert(sizeof(NetAddress) == 32, "one for every client: keep it small");

}  // namespace TURTLE_SERVER
