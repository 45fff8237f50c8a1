// The part of the target `tls` that all inputs share: keys and certificates are made once, not for
// each.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "support/certificate_files.h"
#include "support/record_sealer.h"
#include "support/tls_memory.h"
#include "targets/check.h"
#include "targets/tls_random.h"
#include "tls/openssl.h"
#include "tls/ticket_keys.h"
#include "tls/tls_context.h"

namespace TURTLE_SERVER::fuzz {

using SslSessionPtr = std::unique_ptr<SSL_SESSION, OpenSslDeleter<SSL_SESSION_free>>;

/// A protocol that the server does not speak, as it is sent.
constexpr const char* kOtherProtocol = "\x02h3";

/// A client's wishes.
struct TlsWish {
  int version = 0;              ///< TLS1_2_VERSION or TLS1_3_VERSION alone; 0: any
  std::string host = "a.test";  ///< the server name; "": none
  std::string protocols;        ///< for ALPN, as it is sent
  bool resumes = false;         ///< shows the ticket of an earlier session with a.test
  bool is_short = false;        ///< wants records of 512 bytes at most; then it resumes nothing
  bool retries = false;         ///< its first share of a key is of a kind that the server refuses
  bool asks_status = false;     ///< wants an OCSP response
};

/// The part that all sessions of this process share.
class TlsShared {
 public:
  static auto Get() -> const TlsShared& {
    static const TlsShared shared;
    return shared;
  }

  /// The server's part, with certificates for a.test and b.test.
  [[nodiscard]] auto Server() const -> const std::shared_ptr<const TlsContext>& { return server_; }

  /// The part of all clients.
  [[nodiscard]] auto Clients() const -> SSL_CTX& { return *clients_; }

  /// The session that a client resumes; nullptr: it doesn't wish to, or the ticket is too old.
  [[nodiscard]] auto Session(const TlsWish& wish) const -> SSL_SESSION* {
    constexpr std::time_t kSeconds = 3600;
    const bool is_possible = wish.resumes && std::time(nullptr) - begun_ < kSeconds;
    const SslSessionPtr& kept = wish.version == TLS1_2_VERSION ? session12_ : session13_;
    return is_possible ? kept.get() : nullptr;
  }

 private:
  TlsShared() {
    SSL_CTX_set_ciphersuites(clients_.get(), test::RecordSealer::kCipher13);
    SSL_CTX_set_cipher_list(clients_.get(), test::RecordSealer::kCipher);
    session12_ = MakeSession(TLS1_2_VERSION);
    session13_ = MakeSession(TLS1_3_VERSION);
  }

  // The dates are fixed: they are part of what is signed.
  static auto Wish(const char* name) -> test::CertificateWish {
    const auto now = static_cast<long>(std::time(nullptr));  // NOLINT: OpenSSL's type
    test::CertificateWish wish;
    wish.names = {name};
    wish.from = 1'700'000'000 - now;
    wish.until = 4'000'000'000 - now;
    return wish;
  }

  // The files are removed at once: a finding ends the process without its destructors.
  static auto MakeServer() -> std::shared_ptr<const TlsContext> {
    constexpr std::size_t kKeySize = 16 + 32 + 32;  // its name and two secrets
    const test::CertificateFiles a(Wish("a.test"));
    const test::CertificateFiles b(Wish("b.test"));
    TlsOptions options;
    options.certificates = {a.Files(), b.Files()};
    auto keys = std::make_shared<TicketKeys>(options.ticket_period, [] { return TimePoint(); });
    if (!keys->Load("1c00000000" + std::string(kKeySize, 'k'))) {
      Fail("the key of the tickets has another format");
    }
    return std::make_shared<const TlsContext>(options, keys);
  }

  [[nodiscard]] auto MakeSession(int version) const -> SslSessionPtr {
    const SslPtr server = server_->NewSession();
    const SslPtr client(SSL_new(clients_.get()));
    SSL_set_connect_state(client.get());
    SSL_set_max_proto_version(client.get(), version);
    std::string host = "a.test";
    SSL_ctrl(client.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
    test::TlsMemory from(*client);
    test::TlsMemory to(*server);
    constexpr int kFlights = 3;
    for (int i = 0; i < kFlights; ++i) {
      from.Shake();
      to.Give(from.Take());
      to.Shake();
      from.Give(to.Take());
    }
    from.Read();  // the tickets
    if (!from.IsOpen() || !to.IsOpen()) {
      Fail("no session to resume: " + from.Reason() + to.Reason());
    }
    return SslSessionPtr(
        SSL_SESSION_dup(SSL_get0_session(client.get())));  // a cut spoils the other
  }

  const bool is_fixed_ = (TlsRandom::Begin(), true);  // before the keys are made
  const std::time_t begun_ = std::time(nullptr);
  const std::shared_ptr<const TlsContext> server_ = MakeServer();
  const SslContextPtr clients_{SSL_CTX_new(TLS_client_method())};
  SslSessionPtr session12_;
  SslSessionPtr session13_;
};

}  // namespace TURTLE_SERVER::fuzz
