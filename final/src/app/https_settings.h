// The settings of HTTPS: certificates, ports, and what clients get without TLS.
//
// Thread: plain data; that of the variables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/setting.h"
#include "tls/tls_options.h"

namespace TURTLE_SERVER {

/// The treatment of clients that come without TLS, to a server that has it.
enum class PlainHttp : std::uint8_t {
  kRedirect,  ///< A redirect to the port with TLS.
  kServe,     ///< The same as the others.
  kOff        ///< Nothing: no port is open for them.
};

/// The settings of HTTPS; without a certificate there is none.
struct HttpsOptions {
  TlsCertificate certificate;                ///< --tls-certificate, --tls-key, --tls-ocsp
  std::vector<TlsCertificate> certificates;  ///< "tls.certificates": more of them
  std::uint16_t port = 20443;                ///< --https-port; 0: any free one.
  std::uint16_t public_port = 0;  ///< --https-public-port: in redirects; 0: that of the listener.
  PlainHttp plain = PlainHttp::kRedirect;                  ///< --http
  TlsVersion least = TlsVersion::k12;                      ///< --tls-version
  ClientCertificates clients = ClientCertificates::kNone;  ///< --tls-clients
  std::string client_ca;                                   ///< --tls-client-ca: a file.
  bool tickets = true;                                     ///< --tls-tickets
  /// Names for ALPN of the protocols that the program speaks; no setting.
  std::vector<std::string> protocols = {"http/1.1"};

  /// Returns true if there is a certificate.
  [[nodiscard]] auto HasTls() const noexcept -> bool {
    return !certificate.chain.empty() || !certificates.empty();
  }
};

/// Returns the settings of TLS itself.
[[nodiscard]] auto TlsOf(const HttpsOptions& https) -> TlsOptions;

/// Adds the settings that can't change while the server runs.
/// @param list gets them; `https` outlives it
/// @param https where they are stored
void AddHttpsPorts(SettingList& list, HttpsOptions& https);

/// Adds the others. Parameters as above.
void AddCertificates(SettingList& list, HttpsOptions& https);

/// Returns what no single setting shows.
/// @param https the settings
/// @param plain_port the port without TLS
/// @return the first mistake with its key: "tls.key: …"; "" if there is none
[[nodiscard]] auto HttpsMistake(const HttpsOptions& https, std::uint16_t plain_port) -> std::string;

}  // namespace TURTLE_SERVER
