// A UDP client for tests, all of whose waits end.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/client.h"
#include "udp/datagram_batch.h"
#include "udp/udp_socket.h"

namespace TURTLE_SERVER::test {

/// Waits until a datagram, or an error, can be read. @return false when the time is over
inline auto AwaitDatagram(const UdpSocket& socket, std::chrono::milliseconds limit = kPatience)
    -> bool {
  pollfd waiting{socket.GetFd(), POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(limit.count())) == 1;
}

/// A socket that sends requests to a server.
class UdpClient {
 public:
  /// Connects, so that only the server's datagrams are received.
  explicit UdpClient(const NetAddress& server) { socket_.Connect(server); }

  /// Returns the socket.
  [[nodiscard]] auto Get() -> UdpSocket& { return socket_; }

  /// Returns its own address.
  [[nodiscard]] auto Address() const -> NetAddress { return socket_.LocalAddress(); }

  /// Sends one datagram. Loopback delivers it before this returns.
  auto Send(std::string_view payload) -> bool {
    return socket_.Send(payload).status == IoStatus::kBytes;
  }

  /// Returns the next datagram; nullopt if none arrives within `limit`.
  auto Receive(std::chrono::milliseconds limit = kPatience) -> std::optional<std::string> {
    NetAddress peer;
    std::string text(kMaxUdpPayload, '\0');
    if (!AwaitDatagram(socket_, limit)) {
      return std::nullopt;
    }
    const ReceiveResult result = socket_.Receive(text.data(), text.size(), peer);
    if (result.status != IoStatus::kBytes) {
      return std::nullopt;
    }
    text.resize(result.bytes);
    return text;
  }

  /// Sends a datagram, and waits for the response.
  auto Ask(std::string_view payload) -> std::optional<std::string> {
    return Send(payload) ? Receive() : std::nullopt;
  }

 private:
  UdpSocket socket_;
};

}  // namespace TURTLE_SERVER::test
