#include "app/https_settings.h"

#include <cstddef>

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kMaxCertificates = 1000;

auto CertificateSettings(TlsCertificate& certificate) -> SettingList {
  SettingList list;
  list.File({"certificate", ""}, certificate.chain,
            "file in PEM with the certificate and those that signed it, but for the root");
  list.Require("certificate");
  list.File({"key", ""}, certificate.key, "file in PEM with its private key");
  list.Require("key");
  list.File({"ocsp", ""}, certificate.ocsp, "file in DER with an OCSP response about it");
  return list;
}

}  // namespace

auto TlsOf(const HttpsOptions& https) -> TlsOptions {
  TlsOptions tls;
  if (!https.certificate.chain.empty()) {
    tls.certificates.push_back(https.certificate);
  }
  tls.certificates.insert(tls.certificates.end(), https.certificates.begin(),
                          https.certificates.end());
  tls.least = https.least;
  tls.clients = https.clients;
  tls.client_ca = https.client_ca;
  tls.tickets = https.tickets;
  tls.protocols = https.protocols;
  return tls;
}

void AddHttpsPorts(SettingList& list, HttpsOptions& https) {
  list.Count({"tls.port", "--https-port"}, https.port, 0, 65535,
             "port for clients with TLS, at the same addresses; 0: any free one");
  list.Count({"tls.public_port", "--https-public-port"}, https.public_port, 0, 65535,
             "that port as clients see it, for redirects; 0: the same");
  list.Word(
      {"tls.http", "--http"}, https.plain,
      {{"redirect", PlainHttp::kRedirect}, {"serve", PlainHttp::kServe}, {"off", PlainHttp::kOff}},
      "what clients get without TLS, if there is a certificate: a redirect to it, the same "
      "as the others, or nothing: --port is not opened");
}

void AddCertificates(SettingList& list, HttpsOptions& https) {
  list.File({"tls.certificate", "--tls-certificate"}, https.certificate.chain,
            "file in PEM with the server's certificate and those that signed it, but for the root");
  list.File({"tls.key", "--tls-key"}, https.certificate.key,
            "file in PEM with its private key, which only its owner and group may access");
  list.File({"tls.ocsp", "--tls-ocsp"}, https.certificate.ocsp,
            "file in DER with an OCSP response about it");
  list.Objects({"tls.certificates", ""}, https.certificates, kMaxCertificates, CertificateSettings,
               "more certificates: the client names a host, and gets one that is valid for it");
  list.Word({"tls.version", "--tls-version"}, https.least,
            {{"1.2", TlsVersion::k12}, {"1.3", TlsVersion::k13}},
            "oldest version that is accepted");
  list.Word({"tls.clients", "--tls-clients"}, https.clients,
            {{"none", ClientCertificates::kNone},
             {"optional", ClientCertificates::kOptional},
             {"required", ClientCertificates::kRequired}},
            "whether clients show certificates of their own");
  list.File({"tls.client_ca", "--tls-client-ca"}, https.client_ca,
            "file in PEM with the certificates of those who sign the clients'");
  list.Switch({"tls.tickets", "--tls-tickets"}, https.tickets, true, false,
              "on: clients that come back within two hours need no full handshake");
}

auto HttpsMistake(const HttpsOptions& https, std::uint16_t plain_port) -> std::string {
  const TlsCertificate& single = https.certificate;
  if (single.chain.empty() && !single.key.empty()) {
    return "tls.key: '" + single.key + "' needs a tls.certificate";
  }
  if (single.chain.empty() && !single.ocsp.empty()) {
    return "tls.ocsp: '" + single.ocsp + "' needs a tls.certificate";
  }
  if (!single.chain.empty() && single.key.empty()) {
    return "tls.certificate: '" + single.chain + "' needs a tls.key";
  }
  if (https.plain == PlainHttp::kOff && !https.HasTls()) {
    return "tls.http: without a tls.certificate nothing is served";
  }
  const bool asks = https.clients != ClientCertificates::kNone;
  if (asks && !https.HasTls()) {
    return "tls.clients: without a tls.certificate no client has TLS";
  }
  if (asks && https.client_ca.empty()) {
    return "tls.clients: without a tls.client_ca no client's certificate is valid";
  }
  if (https.clients == ClientCertificates::kRequired && https.plain == PlainHttp::kServe) {
    return "tls.clients: with tls.http 'serve', a client needs no certificate";
  }
  if (!asks && !https.client_ca.empty()) {
    return "tls.client_ca: '" + https.client_ca + "' needs tls.clients optional or required";
  }
  const bool same = https.port == plain_port && plain_port != 0 && https.plain != PlainHttp::kOff;
  return https.HasTls() && same
             ? "tls.port: " + std::to_string(plain_port) + " is also the port without TLS"
             : "";
}

}  // namespace TURTLE_SERVER
