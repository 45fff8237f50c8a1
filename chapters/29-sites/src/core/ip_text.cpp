#include "core/ip_text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <system_error>

namespace TURTLE_SERVER {

auto Ipv4Address(const void* bytes, std::uint16_t port) noexcept -> NetAddress {
  NetAddress address;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(address.Data());
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  std::memcpy(&v4->sin_addr, bytes, sizeof v4->sin_addr);
  *address.Length() = sizeof(sockaddr_in);
  return address;
}

auto Ipv6Address(const void* bytes, std::uint16_t port) noexcept -> NetAddress {
  NetAddress address;
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(address.Data());
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  std::memcpy(&v6->sin6_addr, bytes, sizeof v6->sin6_addr);
  *address.Length() = sizeof(sockaddr_in6);
  return address;
}

auto ParseIp(int family, std::string_view text, std::uint16_t port) noexcept
    -> std::optional<NetAddress> {
  std::array<char, INET6_ADDRSTRLEN> copy{};
  std::array<unsigned char, 16> bytes{};
  if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) {
    return std::nullopt;  // inet_pton(3) stops reading at a NUL
  }
  std::copy(text.begin(), text.end(), copy.begin());
  if (::inet_pton(family, copy.data(), bytes.data()) != 1) {
    return std::nullopt;
  }
  return family == AF_INET ? Ipv4Address(bytes.data(), port) : Ipv6Address(bytes.data(), port);
}

auto ParsePort(std::string_view text) noexcept -> std::optional<std::uint16_t> {
  std::uint16_t port = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool has_zeros = text.size() > 1 && text.front() == '0';
  if (text.empty() || has_zeros || error != std::errc() || stop != text.data() + text.size()) {
    return std::nullopt;
  }
  return port;
}

}  // namespace TURTLE_SERVER
