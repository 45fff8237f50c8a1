// A client for tests: it sends, receives and gives up instead of hanging.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/socket.h"
#include "support/io_status.h"

namespace TURTLE_SERVER::test {

/// How long a test waits for an event that must happen, before it fails.
constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(10);

/// A blocking connection. One thread may send while another receives.
class Client {
 public:
  /// Connects to a port of this machine.
  explicit Client(int port, const std::string& host = "127.0.0.1") {
    socket_.Connect(NetAddress(host, port));
    const timeval limit{std::chrono::duration_cast<std::chrono::seconds>(kPatience).count(), 0};
    ::setsockopt(socket_.GetFd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  }

  /// Sends everything; false if it can't.
  auto Send(std::string_view bytes) -> bool {
    while (!bytes.empty()) {
      const IoResult sent = socket_.Send(bytes);
      if (sent.status != IoStatus::kBytes) {
        return false;
      }
      bytes.remove_prefix(sent.bytes);
    }
    return true;
  }

  /// Receives `count` bytes; fewer if the server closes or `limit` is over.
  auto Receive(std::size_t count, std::chrono::milliseconds limit = kPatience) -> std::string {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::string received;
    std::array<char, 65536> bytes;
    while (received.size() < count && AwaitInput(deadline)) {
      const std::size_t room = std::min(bytes.size(), count - received.size());
      const IoResult result = socket_.Recv(bytes.data(), room);
      if (result.status != IoStatus::kBytes) {
        ended_ = result.status == IoStatus::kEnd;
        reset_ = result.status == IoStatus::kError;
        break;
      }
      received.append(bytes.data(), result.bytes);
    }
    return received;
  }

  /// Receives until the server closes, or for `limit`: see Ended().
  auto ReceiveAll(std::chrono::milliseconds limit = kPatience) -> std::string {
    return Receive(std::string().max_size(), limit);
  }

  /// True when the server has finished sending, properly.
  [[nodiscard]] auto Ended() const -> bool { return ended_; }

  /// True when the connection was reset.
  [[nodiscard]] auto WasReset() const -> bool { return reset_; }

  /// Sends a FIN.
  void FinishSending() { socket_.ShutdownWrite(); }

  /// Closes with a RST, as a crashing peer does.
  void Reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_.GetFd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    socket_ = Socket();
  }

  /// Returns the socket.
  [[nodiscard]] auto GetSocket() -> Socket& { return socket_; }

 private:
  auto AwaitInput(std::chrono::steady_clock::time_point deadline) const -> bool {
    while (socket_.GetFd() >= 0) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd waiting{socket_.GetFd(), POLLIN, 0};
      const int ready =
          ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
      if (ready >= 0 || errno != EINTR) {
        return ready > 0;
      }
    }
    return false;
  }

  Socket socket_;
  bool ended_ = false;
  bool reset_ = false;
};

}  // namespace TURTLE_SERVER::test
