#include "bench/tls_client_channel.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kLongRecord = std::size_t{16} * 1024;  // RFC 8446, section 5.1

}  // namespace

TlsClientChannel::TlsClientChannel(SslPtr session) : session_(std::move(session)) {
  wire_.Connect(*session_);
}

// OpenSSL would mark the session of a connection that was cut, and never resume it. Browsers do.
TlsClientChannel::~TlsClientChannel() {
  if (is_open_) {
    SSL_set_shutdown(session_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
}

auto TlsClientChannel::Open(std::string_view wire, Buffer& plain, OutQueue& reply)
    -> ChannelStatus {
  has_begun_ = true;
  wire_.Begin(wire, reply);
  ChannelStatus status = is_open_ ? ChannelStatus::kOpen : Shake();
  if (is_open_) {
    status = ReadRecords(plain);
  }
  wire_.End();
  return status;
}

auto TlsClientChannel::Shake() -> ChannelStatus {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  is_open_ = result == 1;
  if (is_open_ || SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_READ) {
    return ChannelStatus::kOpen;
  }
  const auto verdict = SSL_get_verify_result(session_.get());
  is_refused_ = verdict != X509_V_OK && SSL_get_verify_mode(session_.get()) != SSL_VERIFY_NONE;
  failure_ = is_refused_ ? X509_verify_cert_error_string(verdict) : TakeOpenSslReason();
  ERR_clear_error();
  return ChannelStatus::kBroken;  // the alert is on its way
}

auto TlsClientChannel::ReadRecords(Buffer& plain) -> ChannelStatus {
  std::array<char, kLongRecord> bytes;  // not initialised
  while (true) {
    ERR_clear_error();
    std::size_t read = 0;
    const int result = SSL_read_ex(session_.get(), bytes.data(), bytes.size(), &read);
    if (result != 1) {
      const int error = SSL_get_error(session_.get(), result);
      ERR_clear_error();
      return error == SSL_ERROR_ZERO_RETURN ? ChannelStatus::kEnded
             : error == SSL_ERROR_WANT_READ ? ChannelStatus::kOpen
                                            : ChannelStatus::kBroken;
    }
    plain.Append({bytes.data(), read});
  }
}

void TlsClientChannel::Seal(std::string_view plain, OutQueue& wire) {
  wire_.Begin({}, wire);
  std::size_t written = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(session_.get(), plain.data(), plain.size(), &written);
  wire_.End();
  if (result != 1) {
    throw std::runtime_error("SSL_write_ex: " + TakeOpenSslReason());
  }
}

void TlsClientChannel::SealEnd(OutQueue& wire) {
  if (is_open_) {
    wire_.Begin({}, wire);
    ERR_clear_error();
    SSL_shutdown(session_.get());  // 0: the server's is still to come
    wire_.End();
  }
}

}  // namespace TURTLE_SERVER
