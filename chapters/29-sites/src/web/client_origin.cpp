#include "web/client_origin.h"

#include <sys/socket.h>

#include <cstdint>
#include <string_view>

#include "base/ascii.h"
#include "core/ip_text.h"
#include "http/forwarded.h"

namespace TURTLE_SERVER {

namespace {

auto IsHttps(std::string_view scheme) noexcept -> std::optional<bool> {
  const bool is_https = ascii::EqualIgnoreCase(scheme, "https");
  return is_https || ascii::EqualIgnoreCase(scheme, "http") ? std::optional(is_https)
                                                            : std::nullopt;
}

auto AddressOf(const ForwardedNode& node) noexcept -> std::optional<NetAddress> {
  const auto port = node.port.empty() ? std::optional<std::uint16_t>(0) : ParsePort(node.port);
  const bool is_v6 = node.kind == ForwardedNode::Kind::kIpv6;
  return port ? ParseIp(is_v6 ? AF_INET6 : AF_INET, node.ip, *port) : std::nullopt;
}

auto FromList(const Headers& fields, const CidrSet& trusted) noexcept -> ClientOrigin {
  ClientOrigin origin;
  ForwardedList list(fields);
  ForwardedElement element;
  ForwardedState state = list.TakeLast(element);
  for (; state == ForwardedState::kTaken; state = list.TakeLast(element)) {
    const ForwardedNode node = ParseForwardedNode(element.node);
    if (element.node.empty() || node.kind == ForwardedNode::Kind::kHidden) {
      return {std::nullopt, IsHttps(element.proto)};
    }
    origin = {AddressOf(node), IsHttps(element.proto)};
    if (!origin.address) {
      return {};
    }
    if (!trusted.Contains(*origin.address)) {
      return origin;
    }
  }
  return state == ForwardedState::kEnd ? origin : ClientOrigin();
}

}  // namespace

auto OriginOf(const Headers& fields, const CidrSet& trusted) noexcept -> ClientOrigin {
  ClientOrigin origin = FromList(fields, trusted);
  if (!origin.is_secure) {
    origin.is_secure = IsHttps(LastForwardedProto(fields));
  }
  return origin;
}

}  // namespace TURTLE_SERVER
