// A certificate with its private key, as its files hold them.
//
// Interface:
//  * The constructor reads the files, and refuses those that can't be used: damaged, expired, or of
//    another key.
//  * Names() are the hosts for which it is valid.
//  * Staple() is the OCSP response that clients get with it.
//
// A private key that everybody on the machine can read is no secret, so such a file is refused.
//
// Thread: constant once it is made; any.
// Source: RFC 5280; RFC 6066, section 8; RFC 7468
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tls/openssl.h"
#include "tls/tls_options.h"

namespace TURTLE_SERVER {

/// Reads all certificates of a file.
/// @param path a file in PEM; blocks that are no certificates are skipped
/// @return at least one
/// @throws std::system_error, which names the file, if it can't be opened
/// @throws std::invalid_argument, which names the file and the reason, if it has no certificate, or
///     one is damaged
[[nodiscard]] auto ReadCertificates(const std::string& path) -> std::vector<X509Ptr>;

/// One certificate, the certificates that signed it, and its key.
class Certificate {
 public:
  /// The longest file, in bytes.
  static constexpr long kMaxBytes = 1024L * 1024;  // NOLINT: the type of fstat(2)

  /// Reads the files.
  /// @throws std::system_error, which names the file, if it can't be opened
  /// @throws std::invalid_argument, which names the file and the reason. It is no PEM, or no OCSP
  ///     response about this certificate. The key is encrypted, is another certificate's, or can be
  ///     read by others. The certificate has expired
  explicit Certificate(const TlsCertificate& files);

  /// Returns the DNS names that the certificate has, in lower case: "example.org",
  /// "*.example.org".
  [[nodiscard]] auto Names() const noexcept -> const std::vector<std::string>& { return names_; }

  /// True for the certificate of that session, SSL_get_certificate(3).
  [[nodiscard]] auto Is(const X509* other) const noexcept -> bool {
    return chain_.front().get() == other;
  }

  /// Returns the OCSP response; "" if there is none, or if it is out of date by now.
  [[nodiscard]] auto Staple() const noexcept -> std::string_view;

  /// Makes it a certificate of a context, in place of an earlier one of its kind.
  /// @param context of a server
  /// @throws std::invalid_argument, which names the file, if OpenSSL refuses it: the key is too
  ///     short
  void Use(SSL_CTX& context) const;

 private:
  void ReadChain(const std::string& path);
  void ReadKey(const std::string& path);
  void ReadStaple(const std::string& path);

  std::string path_;            // of the chain
  std::vector<X509Ptr> chain_;  // its own certificate first
  PrivateKeyPtr key_;
  std::vector<std::string> names_;
  std::string staple_;                 // DER
  OcspBasicPtr ocsp_;                  // the same, parsed; nullptr: none
  OCSP_SINGLERESP* status_ = nullptr;  // the part of it that is about this certificate
};

}  // namespace TURTLE_SERVER
