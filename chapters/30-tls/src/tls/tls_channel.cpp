#include "tls/tls_channel.h"

#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace TURTLE_SERVER {

TlsChannel::TlsChannel(std::shared_ptr<const TlsContext> context, HandshakeTurns& turns,
                       ConnectionId id, TlsCounts& counts, OnRefused on_refused)
    : context_(std::move(context)),
      turns_(turns),
      counts_(counts),
      on_refused_(std::move(on_refused)),
      session_(context_->NewSession()),
      id_(id) {
  wire_.Connect(*session_);
  SSL_set_msg_callback(session_.get(), OnMessage);
  SSL_set_msg_callback_arg(session_.get(), this);
}

TlsChannel::~TlsChannel() {
  if (has_begun_ && !is_open_ && !has_failed_) {
    ++counts_.failed;
  }
}

auto TlsChannel::Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus {
  has_begun_ = true;
  if (!is_open_ && !HasTurn(wire)) {
    return ChannelStatus::kOpen;
  }
  const std::string kept = std::exchange(kept_, {});
  wire_.Begin(kept.empty() ? wire : kept, reply);
  const ChannelStatus status = GoOn(plain);
  wire_.End();
  return status;
}

auto TlsChannel::Kept() const noexcept -> KeptInput {
  return !awaits_ ? KeptInput::kNone : has_turn_ ? KeptInput::kReady : KeptInput::kWaits;
}

// Each step of a handshake takes a turn, for a client could send its last byte when it likes.
auto TlsChannel::HasTurn(std::string_view wire) -> bool {
  if (!awaits_ && !turns_.Take(id_, has_turn_)) {
    kept_ = wire;
    awaits_ = true;
    return false;
  }
  awaits_ = false;
  return true;
}

auto TlsChannel::GoOn(Buffer& plain) -> ChannelStatus {
  if (!is_open_) {
    const ChannelStatus status = Shake();
    if (!is_open_) {
      return status;
    }
  }
  return ReadRecords(plain);
}

auto TlsChannel::Shake() -> ChannelStatus {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  if (result == 1) {
    subject_ = SubjectOf(SSL_get0_peer_certificate(session_.get()));  // may throw
    is_open_ = true;
    ++(SSL_session_reused(session_.get()) == 1 ? counts_.resumed : counts_.full);
    return ChannelStatus::kOpen;
  }
  if (SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_READ) {
    return ChannelStatus::kOpen;
  }
  return Fail();
}

auto TlsChannel::Fail() -> ChannelStatus {
  has_failed_ = true;
  ++counts_.failed;
  const std::string reason = TakeOpenSslReason();
  if (on_refused_) {
    on_refused_(reason.c_str());
  }
  return ChannelStatus::kBroken;  // the alert is on its way
}

// Read into a buffer on the stack: most input is short, and room for a long record would have to be
// allocated for each.
auto TlsChannel::ReadRecords(Buffer& plain) -> ChannelStatus {
  std::array<char, kLongRecord> bytes;  // not initialised
  while (true) {
    ERR_clear_error();
    std::size_t read = 0;
    const int result = SSL_read_ex(session_.get(), bytes.data(), bytes.size(), &read);
    if (result != 1) {
      const int error = SSL_get_error(session_.get(), result);
      ERR_clear_error();
      const bool waits = error == SSL_ERROR_WANT_READ && SSL_in_init(session_.get()) == 0;
      return AsksTooMuch()                    ? ChannelStatus::kBroken
             : error == SSL_ERROR_ZERO_RETURN ? ChannelStatus::kEnded
             : waits                          ? ChannelStatus::kOpen
                                              : ChannelStatus::kBroken;  // or half a message
    }
    plain.Append({bytes.data(), read});
    opened_ += read;
    sealed_ = 0;
  }
}

// Called for each message, and for the header of each record. SSL_read_ex() doesn't return before
// it has plain bytes or needs more input, and one record can hold thousands of messages. The
// shutdown flag makes it drop the rest of them.
void TlsChannel::OnMessage(int is_ours, int /*version*/, int type, const void* /*bytes*/,
                           std::size_t /*size*/, SSL* session, void* channel) noexcept {
  TlsChannel& self = *static_cast<TlsChannel*>(channel);
  if (is_ours == 0 && type == SSL3_RT_HANDSHAKE && self.is_open_) {
    ++self.messages_;
    if (self.AsksTooMuch()) {
      SSL_set_shutdown(session, SSL_RECEIVED_SHUTDOWN);
    }
  }
}

// Not during the handshake: TLS 1.3 would let us write before the client has proved that it has the
// keys.
auto TlsChannel::CanSeal() const noexcept -> bool { return is_open_; }

void TlsChannel::Seal(std::string_view plain, OutQueue& wire) {
  wire_.Begin({}, wire);
  int result = 1;
  while (!plain.empty() && result == 1) {
    const std::size_t size = std::min(plain.size(), RecordSize());
    std::size_t written = 0;
    ERR_clear_error();
    result = SSL_write_ex(session_.get(), plain.data(), size, &written);
    plain.remove_prefix(written);
    sealed_ += written;
  }
  wire_.End();
  if (result != 1) {
    throw std::runtime_error("SSL_write_ex: " + TakeOpenSslReason());
  }
}

auto TlsChannel::RecordSize() const noexcept -> std::size_t {
  return sealed_ < kShortBytes ? kShortRecord : kLongRecord;
}

auto TlsChannel::Protocol() const noexcept -> std::string_view {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(session_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

// Without the handshake there is nobody who would understand the end.
void TlsChannel::SealEnd(OutQueue& wire) {
  if (is_open_) {
    wire_.Begin({}, wire);
    ERR_clear_error();
    SSL_shutdown(session_.get());  // 0: the client's is still to come
    wire_.End();
  }
}

}  // namespace TURTLE_SERVER
