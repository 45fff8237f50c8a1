// A client of TLS for tests: it connects, sends, receives, and gives up instead of hanging.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/net_address.h"
#include "core/socket.h"
#include "support/client.h"
#include "support/tls_client_session.h"
#include "tls/openssl.h"

namespace TURTLE_SERVER::test {

/// A blocking connection with TLS.
class TlsClient : public TlsClientSession {
 public:
  /// Connects to a port of this machine, and begins nothing else.
  explicit TlsClient(int port, const TlsClientWish& wish = {}) : TlsClientSession(wish) {
    socket_.Connect(NetAddress("127.0.0.1", port));
    SSL_set_fd(Get(), socket_.GetFd());
    const timeval limit{std::chrono::duration_cast<std::chrono::seconds>(kPatience).count(), 0};
    ::setsockopt(socket_.GetFd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_.GetFd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }

  /// Completes the handshake. @return false if the server refuses; Reason() says why
  auto Shake() -> bool {
    ERR_clear_error();
    const bool good = Repeat([this] { return SSL_connect(Get()); }) == 1;
    reason_ = good ? "" : TakeOpenSslReason();
    return good;
  }

  /// Returns why the last call failed.
  [[nodiscard]] auto Reason() const -> const std::string& { return reason_; }

  /// Sends everything. @return false if it can't
  auto Send(std::string_view bytes) -> bool {
    std::size_t written = 0;
    ERR_clear_error();
    return bytes.empty() ||
           Repeat([&] { return SSL_write_ex(Get(), bytes.data(), bytes.size(), &written); }) == 1;
  }

  /// Receives `count` bytes; fewer if the server ends, or fails.
  auto Receive(std::size_t count) -> std::string {
    std::string received;
    while (received.size() < count && ReceiveRecord(received, count - received.size())) {
    }
    return received;
  }

  /// Receives until the server ends.
  auto ReceiveAll() -> std::string { return Receive(static_cast<std::size_t>(-1)); }

  /// Returns the socket below, for bytes that are no TLS.
  [[nodiscard]] auto Raw() -> Socket& { return socket_; }

 private:
  // Calls a function of OpenSSL until no signal interrupts it: io_uring wakes the threads that use
  // it, and a socket with a time limit reports that.
  template <typename Call>
  static auto Repeat(const Call& call) -> int {
    int result = 0;
    do {
      errno = 0;
      result = call();
    } while (result != 1 && errno == EINTR);
    return result;
  }

  auto ReceiveRecord(std::string& received, std::size_t most) -> bool {
    std::array<char, 16384> bytes;
    std::size_t read = 0;
    ERR_clear_error();
    const int result = Repeat(
        [&] { return SSL_read_ex(Get(), bytes.data(), std::min(most, bytes.size()), &read); });
    received.append(bytes.data(), read);
    if (result != 1) {
      reason_ = TakeOpenSslReason();
    }
    return result == 1;
  }

  Socket socket_;
  std::string reason_;
};

}  // namespace TURTLE_SERVER::test
