// Owners of OpenSSL's objects, and texts about them and its errors.
//
// Thread: each object belongs to one thread at a time, except an SSL_CTX: once it is filled, any
// thread may make sessions of it.
// Source: https://docs.openssl.org/3.0/man7/ssl/
#pragma once

#include <openssl/ocsp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Frees an object by the function of its type.
template <auto Free>
struct OpenSslDeleter {
  /// @param object may be nullptr
  template <typename T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

/// A session, SSL_new(3).
using SslPtr = std::unique_ptr<SSL, OpenSslDeleter<SSL_free>>;
/// The context of sessions, SSL_CTX_new(3).
using SslContextPtr = std::unique_ptr<SSL_CTX, OpenSslDeleter<SSL_CTX_free>>;
/// A way of bytes, BIO_new(3).
using BioPtr = std::unique_ptr<BIO, OpenSslDeleter<BIO_free>>;
/// A certificate, X509_new(3).
using X509Ptr = std::unique_ptr<X509, OpenSslDeleter<X509_free>>;
/// A private key, EVP_PKEY_new(3).
using PrivateKeyPtr = std::unique_ptr<EVP_PKEY, OpenSslDeleter<EVP_PKEY_free>>;
/// An OCSP response, OCSP_response_status(3).
using OcspResponsePtr = std::unique_ptr<OCSP_RESPONSE, OpenSslDeleter<OCSP_RESPONSE_free>>;
/// The contents of one, OCSP_response_get1_basic(3).
using OcspBasicPtr = std::unique_ptr<OCSP_BASICRESP, OpenSslDeleter<OCSP_BASICRESP_free>>;

/// Returns the subject of a certificate in ASCII, as in RFC 4514: "CN=ada,O=Example".
/// @param certificate nullptr: ""
/// @throws std::bad_alloc
[[nodiscard]] auto SubjectOf(const X509* certificate) -> std::string;

/// Returns the reason of this thread's last error, and forgets its errors, ERR_get_error(3).
[[nodiscard]] auto TakeOpenSslReason() -> std::string;

/// Throws if a function of OpenSSL has failed.
/// @param result 1 or more for success
/// @param what the function, for the message
/// @throws std::bad_alloc, or std::runtime_error with the reason
void RequireOpenSsl(std::int64_t result, const char* what);

}  // namespace TURTLE_SERVER
