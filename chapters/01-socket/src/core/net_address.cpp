#include "core/net_address.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace TURTLE_SERVER {

namespace {

[[noreturn]] void Refuse(const std::string& host, const char* why) {
  throw std::invalid_argument("address \"" + host + "\": " + why);
}

// True when the last label is a number, decimal or 0x... No top-level domain is one, so such a host
// is an IPv4 address or a mistake. But getaddrinfo(3) would turn "127.1" into 127.0.0.1 and "0"
// into 0.0.0.0, and ask the DNS for "300.1.1.1". A dot at the end doesn't count, and a host with a
// colon is IPv6.
auto LooksLikeIpv4(std::string_view host) -> bool {
  if (host.find(':') != std::string_view::npos) {
    return false;  // IPv6, even when it ends like ::ffff:127.0.0.1
  }
  if (!host.empty() && host.back() == '.') {
    host.remove_suffix(1);
  }
  std::string_view label = host.substr(host.rfind('.') + 1);  // npos + 1 is 0: the whole host
  std::string_view digits = "0123456789";
  if (label.substr(0, 2) == "0x" || label.substr(0, 2) == "0X") {
    label.remove_prefix(2);
    digits = "0123456789abcdefABCDEF";
  }
  return label.find_first_not_of(digits) == std::string_view::npos;
}

auto FamilyOf(Protocol protocol) -> int {
  switch (protocol) {
    case Protocol::Ipv4:
      return AF_INET;
    case Protocol::Ipv6:
      return AF_INET6;
    case Protocol::Any:
      break;
  }
  return AF_UNSPEC;
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

auto Resolve(const std::string& host, int family) -> AddressList {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;  // otherwise each address comes once for each type
  if (host.find(':') != std::string::npos) {
    hints.ai_flags = AI_NUMERICHOST;  // no name has a colon: don't query the DNS
  }
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code == EAI_SYSTEM) {
    throw std::system_error(errno, std::generic_category(), "resolve " + host);
  }
  if (code != 0) {
    throw std::runtime_error("resolve " + host + ": " + gai_strerror(code));
  }
  return {found, &freeaddrinfo};
}

// Returns the IPv4 address if there is one: a program that listens on "localhost" or connects to it
// then meets its likeliest partner. Only one address fits; trying several is a connector's job.
auto Choose(const addrinfo* list) -> const addrinfo* {
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family == AF_INET) {
      return entry;
    }
  }
  return list;
}

}  // namespace

NetAddress::NetAddress() noexcept : address_(), length_(sizeof(address_)) {
  std::memset(&address_, 0, sizeof(address_));
  address_.any.sa_family = AF_UNSPEC;
}

NetAddress::NetAddress(const std::string& host, int port, Protocol protocol) : NetAddress() {
  if (port < 0 || port > 65535) {
    throw std::invalid_argument("port " + std::to_string(port) + ": not in 0..65535");
  }
  if (host.empty()) {
    Refuse(host, "empty");
  }
  if (host.find('\0') != std::string::npos) {
    Refuse(host.substr(0, host.find('\0')), "a NUL byte follows");  // C would stop reading there
  }
  in_addr quad{};
  if (LooksLikeIpv4(host) && inet_pton(AF_INET, host.c_str(), &quad) != 1) {
    Refuse(host, "an IPv4 address is four numbers from 0 to 255, such as 127.0.0.1");
  }
  const AddressList found = Resolve(host, FamilyOf(protocol));
  const addrinfo* chosen = Choose(found.get());
  if (chosen == nullptr || chosen->ai_addrlen > sizeof(address_)) {
    throw std::runtime_error("resolve " + host + ": neither an IPv4 nor an IPv6 address");
  }
  std::memcpy(&address_, chosen->ai_addr, chosen->ai_addrlen);
  length_ = chosen->ai_addrlen;
  // htons: network byte order has the high byte first (RFC 1700), most machines the low one.
  const auto network_port = htons(static_cast<in_port_t>(port));
  if (Family() == AF_INET) {
    address_.v4.sin_port = network_port;
  } else {
    address_.v6.sin6_port = network_port;
  }
}

auto NetAddress::Family() const -> int { return address_.any.sa_family; }

auto NetAddress::Port() const -> int {
  switch (Family()) {
    case AF_INET:
      return ntohs(address_.v4.sin_port);
    case AF_INET6:
      return ntohs(address_.v6.sin6_port);
    default:
      return 0;
  }
}

auto NetAddress::Ip() const -> std::string {
  if (Family() != AF_INET && Family() != AF_INET6) {
    return "";
  }
  // getnameinfo is used because inet_ntop loses the scope of fe80::1%eth0.
  char text[NI_MAXHOST];
  const int code = getnameinfo(Data(), Size(), text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return code == 0 ? text : "";
}

auto NetAddress::ToString() const -> std::string {
  switch (Family()) {
    case AF_INET:
      return Ip() + ":" + std::to_string(Port());
    case AF_INET6:
      return "[" + Ip() + "]:" + std::to_string(Port());
    default:
      return "(no address)";
  }
}

// Compares field by field: the structures' padding and flow label don't identify an address.
auto NetAddress::operator==(const NetAddress& other) const -> bool {
  if (Family() != other.Family() || Port() != other.Port()) {
    return false;
  }
  switch (Family()) {
    case AF_INET:
      return address_.v4.sin_addr.s_addr == other.address_.v4.sin_addr.s_addr;
    case AF_INET6:
      return address_.v6.sin6_scope_id == other.address_.v6.sin6_scope_id &&
             std::memcmp(&address_.v6.sin6_addr, &other.address_.v6.sin6_addr, sizeof(in6_addr)) ==
                 0;
    default:
      return true;
  }
}

}  // namespace TURTLE_SERVER
