// The settings that all TLS sessions of a run share: the trusted roots, and the expected host.
//
// Interface:
//  * TlsClientContext reads the trusted roots.
//  * NewSession() makes the session of one connection, which resumes an earlier one if it can.
//
// Thread: any; a session and its store belong to one loop.
// Source: SSL_CTX_set_verify(3), SSL_set1_host(3), SSL_CTX_sess_set_new_cb(3)
#pragma once

#include <string>

#include "bench/session_store.h"
#include "tls/openssl.h"

namespace TURTLE_SERVER {

/// Settings of a TlsClientContext.
struct TlsClientOptions {
  std::string host;    ///< a name or an address, as in the URL
  std::string ca{};    ///< a file of trusted roots in PEM; empty: those of the system
  bool verify = true;  ///< whether the server has to prove that it is `host`
  bool resume = true;  ///< whether sessions are resumed
};

/// Makes the client's side of TLS sessions with one server: TLS 1.2 or 1.3, HTTP/1.1 in ALPN.
class TlsClientContext {
 public:
  /// @throws std::system_error, which names the file, if `ca` can't be opened
  /// @throws std::runtime_error, which names the file, if there is no certificate in it
  explicit TlsClientContext(TlsClientOptions options);

  /// Makes a session in the state that begins the handshake. Throws std::bad_alloc.
  /// @param store has the sessions to be resumed, gets new ones, and outlives the connection
  [[nodiscard]] auto NewSession(SessionStore& store) const -> SslPtr;

  /// Returns the host of the settings.
  [[nodiscard]] auto Host() const noexcept -> const std::string& { return options_.host; }

 private:
  void Verify();

  const TlsClientOptions options_;
  SslContextPtr context_;
  bool names_host_ = true;  // to the server: an address is no name
};

}  // namespace TURTLE_SERVER
