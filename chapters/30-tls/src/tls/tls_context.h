// The part that all sessions of a server share: certificates, permitted versions and ciphers,
// tickets.
//
// Interface:
//  * The constructor reads all files, and refuses what can't serve.
//  * NewSession() makes the session of one client.
//
// The versions, ciphers and groups are those of Mozilla's intermediate profile, which all clients
// of the last ten years support. There is no renegotiation: a client could ask for one handshake
// after another. There is no 0-RTT: an attacker could send recorded requests again.
//
// Each group of certificates (tls/certificate_table.h) has its own SSL_CTX. As soon as a
// client has named its host, its session goes over to the one of that host.
//
// Thread: constant once it is made; any.
// Source: https://wiki.mozilla.org/Security/Server_Side_TLS; SSL_CTX_set_client_hello_cb(3),
// SSL_CTX_set_alpn_select_cb(3), SSL_CTX_set_tlsext_ticket_key_evp_cb(3)
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tls/certificate.h"
#include "tls/certificate_table.h"
#include "tls/openssl.h"
#include "tls/ticket_keys.h"
#include "tls/tls_options.h"

namespace TURTLE_SERVER {

/// The constant part of a server's TLS. A replacement is a new one.
class TlsContext {
 public:
  /// @param options the settings
  /// @param keys of the tickets, which outlive this: a replacement uses the same
  /// @throws as Certificate; std::invalid_argument, too, without a certificate, or if a protocol's
  ///     name has not 1 to 255 bytes
  TlsContext(const TlsOptions& options, std::shared_ptr<TicketKeys> keys);
  TlsContext(const TlsContext&) = delete;
  auto operator=(const TlsContext&) -> TlsContext& = delete;

  /// Makes a server's session. This must outlive it. Throws std::bad_alloc.
  [[nodiscard]] auto NewSession() const -> SslPtr;

  /// Returns the DNS names of all certificates, as Certificate::Names() does.
  [[nodiscard]] auto Names() const -> std::set<std::string>;

 private:
  friend struct TlsCallbacks;

  // A digest of the names of a group, for which a client has verified a certificate.
  using SessionId = std::array<unsigned char, SSL_MAX_SID_CTX_LENGTH>;

  [[nodiscard]] auto IdOf(const CertificateTable::Group& group) const -> SessionId;
  auto MakeContext(const CertificateTable::Group& group, const TlsOptions& options)
      -> SslContextPtr;
  void SetProtocols(const std::vector<std::string>& protocols);
  void AskClients(SSL_CTX& context, ClientCertificates clients) const;

  auto OnClientHello(SSL& session) const -> bool;
  auto ChooseProtocol(std::string_view offered) const -> std::string_view;
  auto SealTicket(unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX& cipher,
                  EVP_MAC_CTX& mac) const -> int;
  auto OpenTicket(const SSL& session, const unsigned char* name, const unsigned char* iv,
                  EVP_CIPHER_CTX& cipher, EVP_MAC_CTX& mac) const -> int;
  auto StapleFor(SSL& session) const -> std::string_view;

  std::shared_ptr<TicketKeys> keys_;  // shared with the contexts before and after this one
  std::vector<Certificate> certificates_;
  CertificateTable table_;
  std::string protocols_;                // for ALPN: each name after its length
  std::vector<X509Ptr> authorities_;     // of clients
  std::vector<SslContextPtr> contexts_;  // by group
  std::vector<SessionId> ids_;           // by group
};

}  // namespace TURTLE_SERVER
