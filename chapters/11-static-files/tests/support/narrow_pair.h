// Two ends of a TCP connection over loopback with a small send buffer, so that a test sees full
// sockets and partial writes after some ten kilobytes; and a file to send.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER::test {

/// A connection: `sender` is non-blocking, `reader` waits at most ten seconds.
class NarrowPair {
 public:
  NarrowPair() {
    Socket listener;
    listener.Bind(NetAddress("127.0.0.1", 0));
    listener.Listen();
    reader.Connect(listener.LocalAddress());
    NetAddress client;
    sender = Socket(UniqueFd(listener.Accept(client)));
    sender.SetNonBlocking();
    const int small = 8 * 1024;
    setsockopt(sender.GetFd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    const timeval patience{10, 0};
    setsockopt(reader.GetFd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }

  /// After a full socket: waits until it has room again or bytes have arrived, and returns these,
  /// at most `most`. There may be none: the bytes that were read make room only once the kernel has
  /// acknowledged them.
  auto Relieve(std::size_t most) -> std::string {
    std::array<pollfd, 2> ends{
        {{sender.GetFd(), POLLOUT, 0}, {reader.GetFd(), POLLIN, 0}},
    };
    if (poll(ends.data(), ends.size(), 10'000) <= 0) {
      ADD_FAILURE() << "neither room nor data in ten seconds";
    }
    return ends[1].revents != 0 ? Read(most) : std::string();
  }

  /// Returns the next bytes, at most `most`; "" at the end, and after ten seconds of silence.
  auto Read(std::size_t most) -> std::string {
    std::string bytes(most, '\0');
    const IoResult result = reader.Recv(bytes.data(), most);
    EXPECT_NE(result.status, IoStatus::kWouldBlock) << "nothing arrived in ten seconds";
    bytes.resize(result.status == IoStatus::kBytes ? result.bytes : 0);
    return bytes;
  }

  /// Returns exactly `count` bytes, or fewer if they don't arrive.
  auto ReadExactly(std::size_t count) -> std::string {
    std::string bytes;
    while (bytes.size() < count) {
      const std::string more = Read(count - bytes.size());
      if (more.empty()) {
        break;
      }
      bytes += more;
    }
    return bytes;
  }

  Socket sender;
  Socket reader;
};

/// Returns an open file without a name that contains `content`.
inline auto MakeFile(std::string_view content) -> UniqueFd {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  EXPECT_NE(file, nullptr);
  EXPECT_EQ(std::fwrite(content.data(), 1, content.size(), file.get()), content.size());
  EXPECT_EQ(std::fflush(file.get()), 0);
  return UniqueFd(fcntl(fileno(file.get()), F_DUPFD_CLOEXEC, 0));
}

/// Returns `size` bytes in which every place looks different from its neighbours.
inline auto Pattern(std::size_t size, unsigned seed = 1) -> std::string {
  std::string text(size, '\0');
  unsigned state = seed * 2654435761U + 1;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return text;
}

}  // namespace TURTLE_SERVER::test
