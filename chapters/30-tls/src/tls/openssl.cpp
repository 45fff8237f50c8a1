#include "tls/openssl.h"

#include <openssl/err.h>

#include <cstdint>
#include <new>
#include <stdexcept>

namespace TURTLE_SERVER {

auto SubjectOf(const X509* certificate) -> std::string {
  if (certificate == nullptr) {
    return "";
  }
  const BioPtr text(BIO_new(BIO_s_mem()));
  if (!text ||
      X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) < 0) {
    ERR_clear_error();
    throw std::bad_alloc();
  }
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);  // NOLINT: the type of OpenSSL
  return {bytes, static_cast<std::size_t>(size)};
}

auto TakeOpenSslReason() -> std::string {
  const std::uint64_t error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "error " + std::to_string(error);
}

void RequireOpenSsl(std::int64_t result, const char* what) {
  if (result >= 1) {
    return;
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE) {
    ERR_clear_error();
    throw std::bad_alloc();
  }
  throw std::runtime_error(std::string(what) + ": " + TakeOpenSslReason());
}

}  // namespace TURTLE_SERVER
