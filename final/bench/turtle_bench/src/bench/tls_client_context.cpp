#include "bench/tls_client_context.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <fstream>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace TURTLE_SERVER {

namespace {

constexpr unsigned char kProtocols[] = "\x08http/1.1";  // NOLINT: as it is sent

// OpenSSL calls it with each session that could be resumed. With TLS 1.3, that is after the
// handshake.
auto OnNewSession(SSL* session, SSL_SESSION* resumable) noexcept -> int {
  SslSessionPtr owned(resumable);
  try {
    static_cast<SessionStore*>(SSL_get_app_data(session))->Put(std::move(owned));
  } catch (...) {
    // No memory: there is one session fewer to be resumed.
  }
  return 1;  // it is ours in any case
}

void ReadRoots(SSL_CTX& context, const std::string& file) {
  if (file.empty()) {
    RequireOpenSsl(SSL_CTX_set_default_verify_paths(&context), "SSL_CTX_set_default_verify_paths");
    return;
  }
  if (!std::ifstream(file)) {
    throw std::system_error(errno, std::generic_category(), "open " + file);
  }
  if (SSL_CTX_load_verify_file(&context, file.c_str()) != 1) {
    throw std::runtime_error("read " + file + ": " + TakeOpenSslReason());
  }
}

}  // namespace

TlsClientContext::TlsClientContext(TlsClientOptions options)
    : options_(std::move(options)), context_(SSL_CTX_new(TLS_client_method())) {
  if (!context_) {
    ERR_clear_error();
    throw std::bad_alloc();
  }
  SSL_CTX& context = *context_;
  RequireOpenSsl(SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION),
                 "SSL_CTX_set_min_proto_version");
  SSL_CTX_set_mode(&context, SSL_MODE_RELEASE_BUFFERS);  // many connections are idle
  if (SSL_CTX_set_alpn_protos(&context, kProtocols, sizeof kProtocols - 1) != 0) {
    throw std::bad_alloc();
  }
  if (options_.resume) {
    SSL_CTX_set_session_cache_mode(&context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(&context, OnNewSession);
  } else {
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
  }
  Verify();
}

// The parameters of the context are those of each session.
void TlsClientContext::Verify() {
  X509_VERIFY_PARAM* const wanted = SSL_CTX_get0_param(context_.get());
  names_host_ = X509_VERIFY_PARAM_set1_ip_asc(wanted, options_.host.c_str()) != 1;
  ERR_clear_error();
  if (names_host_) {
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    RequireOpenSsl(X509_VERIFY_PARAM_set1_host(wanted, options_.host.data(), options_.host.size()),
                   "X509_VERIFY_PARAM_set1_host");
  }
  if (options_.verify) {
    ReadRoots(*context_, options_.ca);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  }
}

auto TlsClientContext::NewSession(SessionStore& store) const -> SslPtr {
  SslPtr session(SSL_new(context_.get()));
  if (!session) {
    ERR_clear_error();
    throw std::bad_alloc();
  }
  SSL_set_connect_state(session.get());
  SSL_set_app_data(session.get(), &store);
  if (names_host_) {
    std::string host = options_.host;  // the macro for it is no C++
    RequireOpenSsl(SSL_ctrl(session.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                            host.data()),
                   "SSL_set_tlsext_host_name");
  }
  if (const SslSessionPtr earlier = store.Take()) {
    RequireOpenSsl(SSL_set_session(session.get(), earlier.get()), "SSL_set_session");
  }
  return session;
}

}  // namespace TURTLE_SERVER
