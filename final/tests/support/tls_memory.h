// One side of a TLS session, in memory: a test moves, cuts and changes the bytes between both.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "tls/openssl.h"

namespace TURTLE_SERVER::test {

/// The memory that a session reads from and writes to.
class TlsMemory {
 public:
  /// @param session not connected yet; outlives this
  explicit TlsMemory(SSL& session)
      : session_(session), from_peer_(BIO_new(BIO_s_mem())), to_peer_(BIO_new(BIO_s_mem())) {
    SSL_set_bio(&session, from_peer_, to_peer_);  // which owns them from now on
  }

  /// Goes on with the handshake. @return false if it has failed; Reason() says why
  auto Shake() -> bool {
    ERR_clear_error();
    const int result = SSL_do_handshake(&session_);
    return result == 1 || Waits(result);
  }

  /// True once the handshake is complete.
  [[nodiscard]] auto IsOpen() const -> bool { return SSL_is_init_finished(&session_) == 1; }

  /// Writes text of the session. @return false if it can't
  auto Write(std::string_view text) -> bool {
    std::size_t written = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(&session_, text.data(), text.size(), &written);
    return result == 1 || Waits(result);
  }

  /// Returns all text that has arrived; Reason() says whether that has failed.
  auto Read() -> std::string {
    std::string text;
    std::array<char, 16384> bytes;
    for (;;) {
      std::size_t read = 0;
      ERR_clear_error();
      const int result = SSL_read_ex(&session_, bytes.data(), bytes.size(), &read);
      text.append(bytes.data(), read);
      if (result != 1) {
        Waits(result);
        return text;
      }
    }
  }

  /// Returns the reason of the first failure; "" if there was none.
  [[nodiscard]] auto Reason() const -> const std::string& { return reason_; }

  /// Returns the bytes that the session has for its peer, and forgets them.
  auto Take() -> std::string {
    std::string bytes(BIO_ctrl_pending(to_peer_), '\0');
    std::size_t read = 0;
    BIO_read_ex(to_peer_, bytes.data(), bytes.size(), &read);
    return bytes;
  }

  /// Gives the session bytes of its peer.
  void Give(std::string_view bytes) {
    std::size_t written = 0;
    if (!bytes.empty()) {
      BIO_write_ex(from_peer_, bytes.data(), bytes.size(), &written);
    }
  }

 private:
  // Returns true if the session only needs more bytes, or has ended.
  auto Waits(int result) -> bool {
    const int error = SSL_get_error(&session_, result);
    const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_ZERO_RETURN;
    if (!waits && reason_.empty()) {
      reason_ = TakeOpenSslReason();
    }
    return waits;
  }

  SSL& session_;
  BIO* from_peer_;
  BIO* to_peer_;
  std::string reason_;
};

}  // namespace TURTLE_SERVER::test
