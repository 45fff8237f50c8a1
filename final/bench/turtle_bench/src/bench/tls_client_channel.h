// TLS between a client's connection and its socket.
//
// A client speaks first. A connection calls Open() with bytes that have arrived, or without any if
// the channel is KeptInput::kReady. So this channel is kReady until its first Open(), which replies
// with the ClientHello. The connection's first Recv() calls it.
//
// Interface:
//  * Connection::IsOpening() is true until the handshake is complete.
//  * IsResumed(), Names(), SawEnd() describe the session; Failure() and IsRefused() why there is
//    none.
//
// Thread: the loop's.
#pragma once

#include <string>
#include <string_view>

#include "bench/client_session.h"
#include "core/channel.h"
#include "tls/openssl.h"
#include "tls/tls_wire.h"

namespace TURTLE_SERVER {

/// The client's side of one TLS session.
class TlsClientChannel final : public Channel {
 public:
  /// Throws std::bad_alloc.
  /// @param session in the state that begins the handshake, TlsClientContext::NewSession()
  explicit TlsClientChannel(SslPtr session);

  /// Destroys the session, which may be resumed even if its connection was cut.
  ~TlsClientChannel() override;

  TlsClientChannel(const TlsClientChannel&) = delete;
  auto operator=(const TlsClientChannel&) -> TlsClientChannel& = delete;

  auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus override;
  [[nodiscard]] auto Kept() const noexcept -> KeptInput override {
    return has_begun_ ? KeptInput::kNone : KeptInput::kReady;
  }
  [[nodiscard]] auto CanSeal() const noexcept -> bool override { return is_open_; }
  void Seal(std::string_view plain, OutQueue& wire) override;
  void SealEnd(OutQueue& wire) override;
  [[nodiscard]] auto IsSecure() const noexcept -> bool override { return true; }

  /// True if the handshake has resumed an earlier session.
  [[nodiscard]] auto IsResumed() const noexcept -> bool {
    return SSL_session_reused(session_.get()) == 1;
  }

  /// Returns the version and the cipher that were agreed on.
  [[nodiscard]] auto Names() const noexcept -> TlsNames {
    return {SSL_get_version(session_.get()), SSL_get_cipher_name(session_.get())};
  }

  /// True once the server has ended its direction by close_notify: no byte is missing.
  [[nodiscard]] auto SawEnd() const noexcept -> bool {
    return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

  /// Returns why the handshake has failed; empty: it has not, or the connection has ended before.
  [[nodiscard]] auto Failure() const noexcept -> const std::string& { return failure_; }

  /// True if it has failed because the server's certificate is not accepted.
  [[nodiscard]] auto IsRefused() const noexcept -> bool { return is_refused_; }

 private:
  auto Shake() -> ChannelStatus;
  auto ReadRecords(Buffer& plain) -> ChannelStatus;

  TlsWire wire_;
  SslPtr session_;
  std::string failure_;
  bool is_refused_ = false;
  bool has_begun_ = false;
  bool is_open_ = false;  // the handshake is complete
};

}  // namespace TURTLE_SERVER
