// The client's side of a TLS session for tests, without a socket.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "support/certificate_files.h"
#include "tls/openssl.h"

namespace TURTLE_SERVER::test {

using SslSessionPtr = std::unique_ptr<SSL_SESSION, OpenSslDeleter<SSL_SESSION_free>>;

/// A client's wishes. It verifies no certificate: the tests look at it themselves.
struct TlsClientWish {
  std::string host = "localhost";  ///< the server name that it asks for; "": none
  int version = 0;                 ///< TLS1_2_VERSION or TLS1_3_VERSION alone; 0: any
  std::string protocols;           ///< for ALPN, as it is sent: "\x08http/1.1"
  std::string ciphers;             ///< of TLS 1.2; "": OpenSSL's own list
  std::string signatures;          ///< the permitted algorithms, such as "RSA-PSS+SHA256"
  SSL_SESSION* session = nullptr;  ///< to be resumed
  const CertificateFiles* certificate = nullptr;  ///< its own
  bool asks_status = false;                       ///< wants an OCSP response
};

/// A session that a client begins, and what it knows of the server.
class TlsClientSession {
 public:
  explicit TlsClientSession(const TlsClientWish& wish = {})
      : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX& context = *context_;
    if (wish.version != 0) {
      SSL_CTX_set_min_proto_version(&context, wish.version);
      SSL_CTX_set_max_proto_version(&context, wish.version);
    }
    if (!wish.ciphers.empty()) {
      Check(SSL_CTX_set_cipher_list(&context, wish.ciphers.c_str()), "ciphers");
    }
    if (!wish.signatures.empty()) {
      Check(SSL_CTX_set1_sigalgs_list(&context, wish.signatures.c_str()), "signatures");
    }
    if (wish.certificate != nullptr) {
      Check(SSL_CTX_use_certificate(&context, wish.certificate->Get()), "certificate");
      Check(SSL_CTX_use_PrivateKey(&context, wish.certificate->PrivateKey()), "key");
    }
    session_.reset(SSL_new(&context));
    SSL& session = *session_;
    SSL_set_connect_state(&session);
    if (!wish.host.empty()) {
      std::string host = wish.host;  // the macro for it is no C++
      SSL_ctrl(&session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
    }
    if (!wish.protocols.empty()) {
      SSL_set_alpn_protos(&session, reinterpret_cast<const unsigned char*>(wish.protocols.data()),
                          static_cast<unsigned>(wish.protocols.size()));
    }
    if (wish.session != nullptr) {
      // A copy, since OpenSSL spoils a session whose connection is cut.
      const SslSessionPtr copy(SSL_SESSION_dup(wish.session));
      Check(SSL_set_session(&session, copy.get()), "session");
    }
    if (wish.asks_status) {
      SSL_set_tlsext_status_type(&session, TLSEXT_STATUSTYPE_ocsp);
    }
  }

  /// Returns the session, for OpenSSL's own functions.
  [[nodiscard]] auto Get() const -> SSL* { return session_.get(); }

  /// True if the server has ended its direction by close_notify.
  [[nodiscard]] auto SawEnd() const -> bool {
    return (SSL_get_shutdown(Get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

  /// Ends this direction by close_notify.
  void End() { SSL_shutdown(Get()); }

  /// Returns the common name of the server's certificate: the first of its names.
  [[nodiscard]] auto ServerName() const -> std::string {
    const X509Ptr certificate(SSL_get1_peer_certificate(Get()));
    std::array<char, 256> name{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(),
                              static_cast<int>(name.size()));
    return name.data();
  }

  /// Returns the kind of the key of the server's certificate, such as EVP_PKEY_RSA.
  [[nodiscard]] auto ServerKeyKind() const -> int {
    const X509Ptr certificate(SSL_get1_peer_certificate(Get()));
    return EVP_PKEY_get_base_id(X509_get0_pubkey(certificate.get()));
  }

  /// Returns the protocol that was agreed on; "" without ALPN.
  [[nodiscard]] auto Protocol() const -> std::string {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(Get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }

  /// Returns the OCSP response, in DER; "": none came.
  [[nodiscard]] auto Staple() const -> std::string {
    const unsigned char* der = nullptr;
    const auto size = SSL_get_tlsext_status_ocsp_resp(Get(), &der);
    return size <= 0
               ? ""
               : std::string(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  }

  /// True if the handshake has resumed the session of the wish.
  [[nodiscard]] auto IsResumed() const -> bool { return SSL_session_reused(Get()) == 1; }

  /// Returns a copy of the session, to be resumed. With TLS 1.3 its ticket comes with the first
  /// bytes.
  [[nodiscard]] auto Session() const -> SslSessionPtr {
    return SslSessionPtr(SSL_SESSION_dup(SSL_get0_session(Get())));
  }

 private:
  static void Check(int result, const char* what) {
    if (result != 1) {
      throw std::runtime_error(std::string(what) + ": " + TakeOpenSslReason());
    }
  }

  SslContextPtr context_;
  SslPtr session_;
};

}  // namespace TURTLE_SERVER::test
