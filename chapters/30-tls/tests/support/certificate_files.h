// Certificates for tests, made on the spot: each with its own key, in files of its own directory.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/site_folder.h"
#include "tls/openssl.h"
#include "tls/tls_options.h"

namespace TURTLE_SERVER::test {

/// The kind of a certificate's key.
enum class KeyKind { kEcdsa, kRsa };

/// The properties of a certificate to be made.
struct CertificateWish {
  std::vector<std::string> names = {"localhost"};  ///< DNS names
  KeyKind key = KeyKind::kEcdsa;
  long from = -3600;       ///< valid from now and so many seconds on  // NOLINT: OpenSSL's type
  long until = 3600;       ///< valid until now and so many seconds  // NOLINT
  std::string passphrase;  ///< encrypts the key's file, if it is not empty
  bool is_authority = false;
};

/// A certificate, its key, and the files of both.
class CertificateFiles {
 public:
  /// @param wish what it is to be
  /// @param issuer signs it; nullptr: it signs itself
  explicit CertificateFiles(const CertificateWish& wish = {},
                            const CertificateFiles* issuer = nullptr)
      : key_(wish.key == KeyKind::kRsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256")),
        certificate_(X509_new()) {
    Fill(wish, issuer);
    Write(wish, issuer);
  }

  /// Returns the paths, for TlsOptions.
  [[nodiscard]] auto Files() const -> TlsCertificate { return {Chain(), Key(), ""}; }

  /// Returns the path of the certificate and of those that signed it.
  [[nodiscard]] auto Chain() const -> std::string { return Path("chain.pem"); }

  /// Returns the path of its key.
  [[nodiscard]] auto Key() const -> std::string { return Path("key.pem"); }

  /// Returns the path of a file beside them, which need not exist.
  [[nodiscard]] auto Path(const std::string& name) const -> std::string {
    return folder_.Path() + "/" + name;
  }

  /// Returns the certificate.
  [[nodiscard]] auto Get() const -> X509* { return certificate_.get(); }

  /// Returns its key.
  [[nodiscard]] auto PrivateKey() const -> EVP_PKEY* { return key_.get(); }

 private:
  static void Check(bool good, const char* what) {
    if (!good) {
      throw std::runtime_error(std::string(what) + ": " + TakeOpenSslReason());
    }
  }

  void AddExtension(int kind, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    Check(extension != nullptr, value.c_str());
    X509_add_ext(Get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  void Fill(const CertificateWish& wish, const CertificateFiles* issuer) {
    static long serial = 0;  // NOLINT: OpenSSL's type
    Check(key_ && certificate_, "making a key");
    X509_set_version(Get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(Get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(Get()), wish.from);
    X509_gmtime_adj(X509_getm_notAfter(Get()), wish.until);
    X509_set_pubkey(Get(), PrivateKey());
    const std::string name = wish.names.empty() ? "nobody" : wish.names.front();
    X509_NAME* const subject = X509_get_subject_name(Get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(Get(), issuer == nullptr ? subject : X509_get_subject_name(issuer->Get()));
    std::string names;
    for (const std::string& each : wish.names) {
      names += (names.empty() ? "DNS:" : ",DNS:") + each;
    }
    if (!names.empty()) {
      AddExtension(NID_subject_alt_name, names);
    }
    if (wish.is_authority) {
      AddExtension(NID_basic_constraints, "critical,CA:TRUE");
    }
    EVP_PKEY* const signer = issuer == nullptr ? PrivateKey() : issuer->PrivateKey();
    Check(X509_sign(Get(), signer, EVP_sha256()) != 0, "signing");
  }

  void Write(const CertificateWish& wish, const CertificateFiles* issuer) const {
    const BioPtr chain(BIO_new_file(Chain().c_str(), "w"));
    Check(chain && PEM_write_bio_X509(chain.get(), Get()) == 1, "writing the certificate");
    if (issuer != nullptr) {
      Check(PEM_write_bio_X509(chain.get(), issuer->Get()) == 1, "writing the chain");
    }
    const BioPtr key(BIO_new_file(Key().c_str(), "w"));
    const std::string& phrase = wish.passphrase;
    Check(key && PEM_write_bio_PKCS8PrivateKey(
                     key.get(), PrivateKey(), phrase.empty() ? nullptr : EVP_aes_256_cbc(),
                     phrase.c_str(), static_cast<int>(phrase.size()), nullptr, nullptr) == 1,
          "writing the key");
    std::filesystem::permissions(
        Key(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }

  SiteFolder folder_;
  PrivateKeyPtr key_;
  X509Ptr certificate_;
};

}  // namespace TURTLE_SERVER::test
