// The client of the target `tls`: a session of OpenSSL's, in memory. It trusts every certificate.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/record_sealer.h"
#include "support/tls_memory.h"
#include "targets/tls_shared.h"
#include "tls/openssl.h"
#include "tls/tls_channel.h"

namespace TURTLE_SERVER::fuzz {

/// A client, and the text of both sides as it knows it.
class TlsClient {
 public:
  explicit TlsClient(const TlsWish& wish) : session_(SSL_new(&TlsShared::Get().Clients())) {
    SSL* const session = session_.get();
    SSL_set_connect_state(session);
    SSL_set_min_proto_version(session, wish.version == 0 ? TLS1_2_VERSION : wish.version);
    SSL_set_max_proto_version(session, wish.version);
    if (!wish.host.empty()) {
      std::string host = wish.host;  // the macro for it is no C++
      SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
    }
    SSL_set_alpn_protos(session, reinterpret_cast<const unsigned char*>(wish.protocols.data()),
                        static_cast<unsigned>(wish.protocols.size()));
    if (wish.is_short) {
      SSL_set_tlsext_max_fragment_length(session, TLSEXT_max_fragment_length_512);
    }
    if (wish.retries) {
      std::string groups = "P-521:X25519:P-256";  // the last is the certificate's, for TLS 1.2
      SSL_ctrl(session, SSL_CTRL_SET_GROUPS_LIST, 0, groups.data());
    }
    if (wish.asks_status) {
      SSL_set_tlsext_status_type(session, TLSEXT_STATUSTYPE_ocsp);  // NOLINT: an old cast
    }
    if (SSL_SESSION* const kept = TlsShared::Get().Session(wish); kept != nullptr) {
      const SslSessionPtr copy(SSL_SESSION_dup(kept));  // a session that is cut is spoilt
      shows_ticket_ = SSL_set_session(session, copy.get()) == 1;
    }
    test::RecordSealer::KeepSecret(session, secret_);
    memory_.emplace(*session);
  }

  TlsClient(const TlsClient&) = delete;
  auto operator=(const TlsClient&) -> TlsClient& = delete;

  /// Goes on with the handshake.
  void GoOn() {
    memory_->Shake();
    Read();
  }

  /// Writes text. Nothing happens if it can't, as in all that follows.
  void Write(std::string_view text) {
    if (CanWrite() && !text.empty()) {
      has_written_ = true;
      sent_ += text;
      memory_->Write(text);
    }
  }

  /// Ends this direction.
  void End() {
    if (CanWrite()) {
      is_ended_ = true;
      SSL_shutdown(Get());
    }
  }

  /// Asks for new keys, TLS 1.3.
  void AskForKeys(std::size_t times) {
    for (; times > 0 && CanWrite() && SSL_version(Get()) == TLS1_3_VERSION; --times) {
      has_written_ = true;
      ++asked_;
      SSL_key_update(Get(), SSL_KEY_UPDATE_REQUESTED);
      memory_->Shake();
    }
  }

  /// Asks for another handshake, TLS 1.2.
  void AskForHandshake() {
    if (CanWrite() && SSL_version(Get()) == TLS1_2_VERSION) {
      is_good_ = false;
      SSL_renegotiate(Get());
      memory_->Shake();
    }
  }

  /// Seals a record that OpenSSL would not make. @return "" if the client has written before
  auto SealByHand(int type, const std::string& plain) -> std::string {
    if (!CanWrite() || has_written_) {
      return "";
    }
    is_good_ = false;
    if (!sealer_) {
      sealer_.emplace(*Get(), secret_);
    }
    sent_ += type == SSL3_RT_APPLICATION_DATA ? plain : "";
    return sealer_->Seal(type, plain);
  }

  /// Takes the bytes that it has for the server.
  auto Take() -> std::string { return memory_->Take(); }

  /// Gives it bytes of the server.
  void Give(std::string_view wire) {
    memory_->Give(wire);
    Read();
  }

  [[nodiscard]] auto Get() const -> SSL* { return session_.get(); }
  [[nodiscard]] auto Sent() const -> const std::string& { return sent_; }
  [[nodiscard]] auto Received() const -> const std::string& { return received_; }
  [[nodiscard]] auto Reason() const -> const std::string& { return memory_->Reason(); }

  /// True once the handshake is complete on this side.
  [[nodiscard]] auto IsOpen() const -> bool { return memory_->IsOpen(); }
  [[nodiscard]] auto IsEnded() const -> bool { return is_ended_; }
  [[nodiscard]] auto ShowsTicket() const -> bool { return shows_ticket_; }
  [[nodiscard]] auto IsResumed() const -> bool { return SSL_session_reused(Get()) == 1; }

  /// True if the server has ended its direction.
  [[nodiscard]] auto SawEnd() const -> bool {
    return (SSL_get_shutdown(Get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

  /// True if it has done nothing for which the server may break off.
  [[nodiscard]] auto IsGood() const -> bool {
    return is_good_ && asked_ <= TlsChannel::kFreeMessages;
  }

  /// True if the server has to break off once all has arrived.
  [[nodiscard]] auto AsksTooMuch() const -> bool {
    return asked_ > TlsChannel::kFreeMessages + sent_.size() / TlsChannel::kBytesPerMessage;
  }

 private:
  [[nodiscard]] auto CanWrite() const -> bool { return IsOpen() && !is_ended_ && Reason().empty(); }

  void Read() {
    if (IsOpen()) {
      received_ += memory_->Read();
    }
  }

  std::string secret_;
  SslPtr session_;
  std::optional<test::TlsMemory> memory_;
  std::optional<test::RecordSealer> sealer_;
  std::string sent_;
  std::string received_;
  std::size_t asked_ = 0;  // for keys
  bool shows_ticket_ = false;
  bool has_written_ = false;
  bool is_ended_ = false;
  bool is_good_ = true;
};

}  // namespace TURTLE_SERVER::fuzz
