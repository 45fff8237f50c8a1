#include "bench/connector.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "bench/loopback_source.h"
#include "core/socket_calls.h"

namespace TURTLE_SERVER {

namespace {

auto IsLoopback(const NetAddress& server) -> bool {
  return server.Ip() == "::1" || server.Ip().rfind("127.", 0) == 0;
}

auto IsUnderWay(int error) noexcept -> bool {
  return error == EINPROGRESS || error == EALREADY || error == EINTR;
}

auto ErrorOf(int fd) noexcept -> int {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

Connector::Connector(Looper& looper, const NetAddress& server, std::chrono::milliseconds timeout,
                     Callback callback)
    : looper_(looper),
      server_(server),
      is_loopback_(IsLoopback(server)),
      spreads_(HasLoopbackSources(server)),
      timeout_(timeout),
      callback_(std::move(callback)) {}

Connector::~Connector() {
  for (const auto& [fd, attempt] : attempts_) {
    looper_.Unwatch(attempt.watch);
    looper_.Cancel(attempt.timer);
  }
}

// @return 0: connected; EINPROGRESS: under way; else why not
auto Connector::Open(UniqueFd& socket) -> int {
  socket.Reset(OpenSocket(server_.Family(), FdMode::kNonBlocking));
  if (!socket) {
    return errno;
  }
  const int fd = socket.Get();
  MuteSigpipe(fd);
  const int on = 1;
  if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    return errno;
  }
  if (spreads_) {
    if (const int error = BindLoopbackSource(fd, opened_++); error != 0) {
      return error;
    }
  }
  int error = ::connect(fd, server_.Data(), server_.Size()) == 0 ? 0 : errno;
  if (is_loopback_ && IsUnderWay(error)) {
    error = ::connect(fd, server_.Data(), server_.Size()) == 0 || errno == EISCONN ? 0 : errno;
  }
  return IsUnderWay(error) ? EINPROGRESS : error;
}

void Connector::Connect(std::uint32_t tag) {
  UniqueFd socket;
  const int error = Open(socket);
  if (error == EINPROGRESS) {
    Await(std::move(socket), tag);
    return;
  }
  if (error != 0) {
    socket.Reset();
  }
  callback_(tag, std::move(socket), error);
}

void Connector::Await(UniqueFd socket, std::uint32_t tag) {
  const int fd = socket.Get();
  Attempt& attempt = attempts_[fd];
  attempt.socket = std::move(socket);
  attempt.tag = tag;
  try {
    attempt.watch = looper_.Watch(fd, Interest::kWrite,
                                  [this, fd](const PollEvent&) { Finish(fd, ErrorOf(fd)); });
  } catch (const std::system_error& error) {
    attempts_.erase(fd);
    callback_(tag, UniqueFd(), error.code().value());
    return;
  }
  attempt.timer = looper_.RunAfter(timeout_, [this, fd] { Finish(fd, ETIMEDOUT); });
}

void Connector::Finish(int fd, int error) {
  const auto found = attempts_.find(fd);
  Attempt attempt = std::move(found->second);
  attempts_.erase(found);
  looper_.Unwatch(attempt.watch);
  looper_.Cancel(attempt.timer);
  if (error != 0) {
    attempt.socket.Reset();
  }
  callback_(attempt.tag, std::move(attempt.socket), error);
}

}  // namespace TURTLE_SERVER
