// IP addresses that a client or a proxy has sent, as text or as bytes.
//
// Interface:
//  * Ipv4Address() and Ipv6Address() make an address of its bytes.
//  * ParseIp() reads an address in text; ParsePort() reads a port.
//
// NetAddress reads the same texts from a configuration, and more: names, which may need a query of
// the DNS. Text from the network must never cause one.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Returns an IPv4 address.
/// @param bytes four, in network order
/// @param port in host order
[[nodiscard]] auto Ipv4Address(const void* bytes, std::uint16_t port) noexcept -> NetAddress;

/// Returns an IPv6 address.
/// @param bytes sixteen, in network order
/// @param port in host order
[[nodiscard]] auto Ipv6Address(const void* bytes, std::uint16_t port) noexcept -> NetAddress;

/// Reads an address in numbers, as inet_pton(3): no name, no scope, no brackets.
/// @param family AF_INET or AF_INET6
/// @param text any bytes
/// @param port of the result, in host order
/// @return nullopt if the text is not an address of this family
[[nodiscard]] auto ParseIp(int family, std::string_view text, std::uint16_t port) noexcept
    -> std::optional<NetAddress>;

/// Reads a port: digits without a sign and without leading zeros, at most 65535.
/// @return nullopt for any other text
[[nodiscard]] auto ParsePort(std::string_view text) noexcept -> std::optional<std::uint16_t>;

}  // namespace TURTLE_SERVER
