#include "core/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace TURTLE_SERVER {

namespace {

[[noreturn]] void Fail(int error, const char* what, const NetAddress& where) {
  throw std::system_error(error, std::generic_category(), what + (" " + where.ToString()));
}

auto TurnOn(int fd, int level, int option) -> bool {
  const int on = 1;
  return ::setsockopt(fd, level, option, &on, sizeof(on)) == 0;
}

// Returns the outcome of a connect(2) that the kernel is still working on, 0 or an errno value. It
// is known when the socket becomes writable.
auto AwaitConnect(int fd) -> int {
  pollfd waiting{fd, POLLOUT, 0};
  while (::poll(&waiting, 1, -1) < 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

Socket::Socket(UniqueFd fd) noexcept : fd_(std::move(fd)) { MuteSigpipe(fd_.Get()); }

void Socket::Open(const NetAddress& address) {
  if (!fd_) {
    fd_.Reset(OpenSocket(address.Family(), mode_));
  }
  if (!fd_) {
    Fail(errno, "socket", address);
  }
}

void Socket::Connect(const NetAddress& server) {
  Open(server);
  int error = ::connect(fd_.Get(), server.Data(), server.Size()) == 0 ? 0 : errno;
  if (error == EINTR || error == EINPROGRESS) {
    // The handshake continues in the kernel. A second connect would fail with EALREADY, or with
    // EISCONN after a success (connect(2) in POSIX), so wait for the first one.
    error = AwaitConnect(fd_.Get());
  }
  if (error != 0) {
    fd_.Reset();  // after a failed connect its state is undefined: retry with a new one
    Fail(error, "connect", server);
  }
}

void Socket::Bind(const NetAddress& local, bool set_reusable) {
  Open(local);
  const int fd = fd_.Get();
  const bool bound = (!set_reusable || TurnOn(fd, SOL_SOCKET, SO_REUSEADDR)) &&
                     (local.Family() != AF_INET6 || TurnOn(fd, IPPROTO_IPV6, IPV6_V6ONLY)) &&
                     ::bind(fd, local.Data(), local.Size()) == 0;
  if (!bound) {
    const int error = errno;
    fd_.Reset();
    Fail(error, "bind", local);
  }
}

void Socket::Listen(int backlog) {
  if (::listen(fd_.Get(), backlog) != 0) {
    const int error = errno;
    Fail(error, "listen", fd_ ? LocalAddress() : NetAddress());
  }
}

auto Socket::LocalAddress() const -> NetAddress {
  NetAddress local;
  if (::getsockname(fd_.Get(), local.Data(), local.Length()) != 0) {
    throw std::system_error(errno, std::generic_category(), "getsockname");
  }
  return local;
}

void Socket::SetNonBlocking() {
  mode_ = FdMode::kNonBlocking;
  if (!fd_) {
    return;
  }
  // O_NONBLOCK is one of several flags: read them all before writing them.
  const int flags = ::fcntl(fd_.Get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd_.Get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "fcntl O_NONBLOCK");
  }
}

auto Socket::Accept(NetAddress& client) -> int {
  for (;;) {
    const int fd = AcceptSocket(fd_.Get(), client, mode_);
    if (fd >= 0 || (errno != EINTR && errno != ECONNABORTED)) {
      return fd;
    }
  }
}

auto Socket::Recv(char* into, std::size_t room) -> IoResult {
  for (;;) {
    const ssize_t count = ::recv(fd_.Get(), into, room, 0);
    if (count > 0) {
      return {IoStatus::kBytes, static_cast<std::size_t>(count), 0};
    }
    if (count == 0) {
      return {IoStatus::kEnd, 0, 0};
    }
    if (errno != EINTR) {
      return IoFailure(errno);
    }
  }
}

auto Socket::Send(std::string_view bytes, int flags) -> IoResult {
  for (;;) {
    const ssize_t count = ::send(fd_.Get(), bytes.data(), bytes.size(), flags | kNoSignal);
    if (count >= 0) {
      return {IoStatus::kBytes, static_cast<std::size_t>(count), 0};
    }
    if (errno != EINTR) {
      return IoFailure(errno);
    }
  }
}

auto Socket::ShutdownWrite() noexcept -> int {
  return ::shutdown(fd_.Get(), SHUT_WR) == 0 ? 0 : errno;
}

}  // namespace TURTLE_SERVER
