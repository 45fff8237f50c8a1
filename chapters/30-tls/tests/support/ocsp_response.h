// OCSP responses for tests: what an authority says of a certificate.
#pragma once

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/ocsp.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "support/certificate_files.h"
#include "tls/openssl.h"

namespace TURTLE_SERVER::test {

/// Writes a response which says that a certificate is good, as DER.
/// @param about signs the response itself, too
/// @param path of the new file
/// @param until valid until now and so many seconds
inline void WriteOcspResponse(const CertificateFiles& about, const std::string& path,
                              long until = 3600) {  // NOLINT: OpenSSL's type
  using TimePtr = std::unique_ptr<ASN1_TIME, OpenSslDeleter<ASN1_TIME_free>>;
  constexpr long kHour = 3600;  // NOLINT: likewise
  const OcspBasicPtr basic(OCSP_BASICRESP_new());
  OCSP_CERTID* const id = OCSP_cert_to_id(nullptr, about.Get(), about.Get());
  const TimePtr from(X509_gmtime_adj(nullptr, -kHour));
  const TimePtr next(X509_gmtime_adj(nullptr, until));
  const bool added = OCSP_basic_add1_status(basic.get(), id, V_OCSP_CERTSTATUS_GOOD, 0, nullptr,
                                            from.get(), next.get()) != nullptr;
  OCSP_CERTID_free(id);
  const bool is_signed = added && OCSP_basic_sign(basic.get(), about.Get(), about.PrivateKey(),
                                                  EVP_sha256(), nullptr, 0) == 1;
  const OcspResponsePtr response(
      OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic.get()));
  const BioPtr file(BIO_new_file(path.c_str(), "wb"));
  if (!is_signed || !response || !file || i2d_OCSP_RESPONSE_bio(file.get(), response.get()) != 1) {
    throw std::runtime_error("writing an OCSP response: " + TakeOpenSslReason());
  }
}

}  // namespace TURTLE_SERVER::test
