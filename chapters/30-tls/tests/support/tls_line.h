// A line between a client and a server of TLS, and all bytes that cross it: what tcpdump would see.
#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/server_options.h"
#include "support/certificate_files.h"
#include "support/tls_client.h"
#include "tls/tls.h"

namespace TURTLE_SERVER::test {

/// The line of one client. It outlives the server.
class TlsLine {
 public:
  /// Makes a server speak TLS.
  void Protect(ServerOptions& options) { options.channel = tls_.Channels(); }

  /// Connects to an echo on a port of this machine, sends a text and returns what comes back; less
  /// if a step fails.
  auto Exchange(int port, std::string_view text) -> std::string {
    TlsClient client(port);
    BIO* const socket = SSL_get_rbio(client.Get());  // which writes, too
    BIO_set_callback_arg(socket, reinterpret_cast<char*>(&wire_));
    BIO_set_callback_ex(socket, Note);
    return client.Shake() && client.Send(text) ? client.Receive(text.size()) : "";
  }

  /// Returns all bytes that have crossed the line, in both directions.
  [[nodiscard]] auto Wire() const -> const std::string& { return wire_; }

 private:
  // Called by OpenSSL before and after each operation of the socket, BIO_set_callback_ex(3).
  static auto Note(BIO* socket, int operation, const char* bytes, std::size_t /*size*/,
                   int /*argument*/, long /*number*/, int result,  // NOLINT: OpenSSL's type
                   std::size_t* moved) -> long {                   // NOLINT
    if ((operation & BIO_CB_RETURN) == 0) {
      return 1;
    }
    const int what = operation & ~BIO_CB_RETURN;
    if ((what == BIO_CB_READ || what == BIO_CB_WRITE) && result > 0) {
      reinterpret_cast<std::string*>(BIO_get_callback_arg(socket))->append(bytes, *moved);
    }
    return result;
  }

  [[nodiscard]] auto Options() const -> TlsOptions {
    TlsOptions options;
    options.certificates = {certificate_.Files()};
    return options;
  }

  const CertificateFiles certificate_{};
  Tls tls_{Options()};
  std::string wire_;
};

}  // namespace TURTLE_SERVER::test
