// A client of a socket in the file system.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/socket.h"
#include "core/socket_calls.h"

namespace TURTLE_SERVER::test {

/// A blocking connection that gives up instead of hanging.
class UnixClient {
 public:
  /// Connects to `path`; see Connected().
  explicit UnixClient(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    UniqueFd fd(OpenSocket(AF_UNIX, FdMode::kBlocking));
    const timeval limit{10, 0};
    ::setsockopt(fd.Get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ =
        ::connect(fd.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    socket_ = Socket(std::move(fd));
  }

  /// True if a server listened there.
  [[nodiscard]] auto Connected() const noexcept -> bool { return connected_; }

  /// Sends `bytes`, which are few, and receives until `count` have arrived or the server ends.
  auto Ask(std::string_view bytes, std::size_t count = std::string().max_size()) -> std::string {
    std::string received;
    IoResult result = socket_.Send(bytes);
    std::array<char, 65536> room;
    while (result.status == IoStatus::kBytes && received.size() < count) {
      result = socket_.Recv(room.data(), room.size());
      received.append(room.data(), result.bytes);
    }
    return received;
  }

 private:
  Socket socket_;
  bool connected_ = false;
};

}  // namespace TURTLE_SERVER::test
