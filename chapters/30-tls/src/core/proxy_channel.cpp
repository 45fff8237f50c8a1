#include "core/proxy_channel.h"

#include <sys/socket.h>

#include <utility>

#include "core/proxy_header.h"

namespace TURTLE_SERVER {

ProxyChannel::ProxyChannel(std::unique_ptr<Channel> inner, OnRefused on_refused)
    : inner_(std::move(inner)), on_refused_(std::move(on_refused)) {}

auto ProxyChannel::Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus {
  if (is_open_) {
    return OpenInner(wire, plain, reply);
  }
  header_ += wire;
  const ProxyHeader header = ParseProxyHeader(header_);
  if (header.state == ProxyHeader::State::kMore) {
    return ChannelStatus::kOpen;
  }
  if (header.state == ProxyHeader::State::kBad) {
    if (on_refused_) {
      on_refused_(header.reason);
    }
    return ChannelStatus::kBroken;
  }
  is_open_ = true;
  source_ = header.source;
  const std::string bytes = std::exchange(header_, {});
  return OpenInner(std::string_view(bytes).substr(header.bytes), plain, reply);
}

auto ProxyChannel::OpenInner(std::string_view wire, Buffer& plain, OutQueue& reply)
    -> ChannelStatus {
  if (inner_ != nullptr) {
    const bool has_input = !wire.empty() || inner_->Kept() == KeptInput::kReady;
    return has_input ? inner_->Open(wire, plain, reply) : ChannelStatus::kOpen;
  }
  plain.Append(wire);
  return ChannelStatus::kOpen;
}

auto ProxyChannel::Kept() const noexcept -> KeptInput {
  return inner_ == nullptr ? KeptInput::kNone : inner_->Kept();
}

auto ProxyChannel::CanSeal() const noexcept -> bool {
  return is_open_ && (inner_ == nullptr || inner_->CanSeal());
}

void ProxyChannel::Seal(std::string_view plain, OutQueue& wire) {
  if (inner_ != nullptr) {
    inner_->Seal(plain, wire);
  } else {
    wire.Append(plain);
  }
}

// A peer that has sent no header gets nothing, not even an end.
void ProxyChannel::SealEnd(OutQueue& wire) {
  if (is_open_ && inner_ != nullptr) {
    inner_->SealEnd(wire);
  }
}

auto ProxyChannel::IsSecure() const noexcept -> bool {
  return inner_ != nullptr && inner_->IsSecure();
}

auto ProxyChannel::PeerSubject() const noexcept -> std::string_view {
  return inner_ != nullptr ? inner_->PeerSubject() : std::string_view();
}

auto ProxyChannel::Protocol() const noexcept -> std::string_view {
  return inner_ != nullptr ? inner_->Protocol() : std::string_view();
}

auto ProxyChannel::PeerAddress() const noexcept -> const NetAddress* {
  if (source_.Family() != AF_UNSPEC) {
    return &source_;
  }
  return inner_ == nullptr ? nullptr : inner_->PeerAddress();
}

}  // namespace TURTLE_SERVER
