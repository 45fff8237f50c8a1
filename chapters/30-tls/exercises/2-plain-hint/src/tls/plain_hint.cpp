#include "tls/plain_hint.h"

#include <utility>

namespace TURTLE_SERVER {

PlainHint::PlainHint(std::unique_ptr<Channel> inner) : inner_(std::move(inner)) {}

auto PlainHint::Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus {
  is_open_ = true;  // TODO: look at the first bytes before
  return inner_->Open(wire, plain, reply);
}

auto PlainHint::Kept() const noexcept -> KeptInput {
  return inner_->Kept();  // TODO: not yet
}

auto PlainHint::CanSeal() const noexcept -> bool {
  return inner_->CanSeal();  // TODO: not yet
}

void PlainHint::Seal(std::string_view plain, OutQueue& wire) { inner_->Seal(plain, wire); }

void PlainHint::SealEnd(OutQueue& wire) {
  inner_->SealEnd(wire);  // TODO: not yet
}

auto PlainHint::IsSecure() const noexcept -> bool {
  return inner_->IsSecure();  // TODO: not yet
}

auto PlainHint::PeerSubject() const noexcept -> std::string_view { return inner_->PeerSubject(); }

auto PlainHint::PeerAddress() const noexcept -> const NetAddress* { return inner_->PeerAddress(); }

}  // namespace TURTLE_SERVER
