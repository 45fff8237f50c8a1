#include "core/proxy_channel.h"

#include <sys/socket.h>

#include "core/proxy_header.h"

namespace TURTLE_SERVER {

auto ProxyChannel::Open(std::string_view wire, Buffer& plain, OutQueue& /*reply*/)
    -> ChannelStatus {
  if (is_open_) {
    plain.Append(wire);
    return ChannelStatus::kOpen;
  }
  header_ += wire;
  const ProxyHeader header = ParseProxyHeader(header_);
  if (header.state == ProxyHeader::State::kMore) {
    return ChannelStatus::kOpen;
  }
  if (header.state == ProxyHeader::State::kBad) {
    return ChannelStatus::kBroken;
  }
  is_open_ = true;
  source_ = header.source;
  plain.Append(std::string_view(header_).substr(header.bytes));
  header_ = {};
  return ChannelStatus::kOpen;
}

auto ProxyChannel::PeerAddress() const noexcept -> const NetAddress* {
  return source_.Family() == AF_UNSPEC ? nullptr : &source_;
}

}  // namespace TURTLE_SERVER
