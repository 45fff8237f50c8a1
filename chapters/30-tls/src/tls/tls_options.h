// The settings of TLS, as values.
//
// Thread: plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The files of one certificate.
struct TlsCertificate {
  std::string chain;   ///< PEM: the certificate, then those that signed it, without the root
  std::string key;     ///< PEM: its private key, which nobody but its owner and group may access
  std::string ocsp{};  ///< DER: an OCSP response about it, RFC 6960; "": none
};

/// Whether clients show certificates of their own.
enum class ClientCertificates : std::uint8_t {
  kNone,      ///< They are not asked.
  kOptional,  ///< They may; one that is not valid ends the handshake.
  kRequired   ///< A client without one is refused.
};

/// The oldest version of TLS that is accepted.
enum class TlsVersion : std::uint8_t {
  k12,  ///< RFC 5246
  k13   ///< RFC 8446
};

/// Settings of a Tls.
struct TlsOptions {
  /// At least one. The names are those in the certificates; a client that names none of them gets
  /// the first. Several may have the same name and different kinds of keys.
  std::vector<TlsCertificate> certificates;
  TlsVersion least = TlsVersion::k12;                 ///< older clients are refused
  std::vector<std::string> protocols = {"http/1.1"};  ///< for ALPN, RFC 7301, the preferred first
  ClientCertificates clients = ClientCertificates::kNone;  ///< unless kNone, there are no tickets
  std::string client_ca;  ///< PEM: who signs the clients' certificates; not for kNone
  bool tickets = true;    ///< clients may resume a session within two hours of their last visit
  /// How long each key of tickets is given out. It opens tickets for twice as long.
  std::chrono::seconds ticket_period = std::chrono::hours(12);
};

}  // namespace TURTLE_SERVER
