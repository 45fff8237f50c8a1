// A client of TLS whose wire bytes pass through the test, which cuts them and puts others before.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#ifdef __linux__
#include <linux/tcp.h>  // as support/http_client.h: netinet/tcp.h can't be beside it
#else
#include <netinet/tcp.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "support/client.h"
#include "support/tcp_pair.h"
#include "support/tls_client_session.h"
#include "support/tls_memory.h"

namespace TURTLE_SERVER::test {

/// A connection whose bytes go out as the test says. Every wait ends after kPatience.
class TlsWireClient {
 public:
  /// Connects to a port of this machine.
  /// @param first the bytes before all others, in one piece with those that follow
  /// @param step the most bytes that are sent at once
  explicit TlsWireClient(int port, std::string first = {}, std::size_t step = std::string::npos)
      : socket_(port), first_(std::move(first)), step_(step) {
    const int at_once = 1;
    ::setsockopt(socket_.GetSocket().GetFd(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  }

  /// Sends what the session has to send. @return false if the server takes nothing
  auto Flush() -> bool {
    const std::string bytes = first_ + end_.Take();
    first_.clear();
    for (std::string_view left = bytes; !left.empty();) {
      const std::string_view part = left.substr(0, step_);
      if (!socket_.Send(part)) {
        return false;
      }
      left.remove_prefix(part.size());
    }
    return true;
  }

  /// Sends the first bytes of the handshake. @return false if that fails
  auto Begin() -> bool { return end_.Shake() && Flush(); }

  /// Completes the handshake. @return false if it fails
  auto Shake() -> bool {
    while (end_.Shake() && Flush()) {
      if (end_.IsOpen()) {
        return true;
      }
      if (!Fill()) {
        return false;
      }
    }
    return false;
  }

  /// Sends a text. @return false if that fails
  auto Send(std::string_view text) -> bool { return end_.Write(text) && Flush(); }

  /// Receives text until the server ends.
  auto ReceiveAll() -> std::string {
    std::string text;
    do {
      text += end_.Read();
    } while (!session_.SawEnd() && Fill());
    return text;
  }

  /// Returns the socket.
  [[nodiscard]] auto Raw() -> Client& { return socket_; }

  /// Returns the session.
  [[nodiscard]] auto Session() const -> const TlsClientSession& { return session_; }

 private:
  // Takes the next bytes. @return false at the end, after an error and after kPatience
  auto Fill() -> bool {
    const int fd = socket_.GetSocket().GetFd();
    if (!AwaitReady(fd, POLLIN)) {
      return false;
    }
    std::array<char, 65536> bytes;
    const IoResult result = socket_.GetSocket().Recv(bytes.data(), bytes.size());
    end_.Give({bytes.data(), result.bytes});
    return result.status == IoStatus::kBytes;
  }

  Client socket_;
  TlsClientSession session_;
  TlsMemory end_{*session_.Get()};
  std::string first_;
  std::size_t step_;
};

}  // namespace TURTLE_SERVER::test
