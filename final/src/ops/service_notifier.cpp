#include "ops/service_notifier.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/socket_calls.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

void LogTrouble(const std::string& name, int error) noexcept try {
  Log(LogLevel::kWarning,
      "NOTIFY_SOCKET " + name + " can't be reached: " + std::generic_category().message(error));
} catch (...) {
  LogException("NOTIFY_SOCKET");
}

}  // namespace

ServiceNotifier::ServiceNotifier(std::string socket) : name_(std::move(socket)) {
  if (name_.empty()) {
    return;
  }
  if (name_.front() != '/' && name_.front() != '@') {
    throw std::invalid_argument("NOTIFY_SOCKET='" + name_ + "' is neither a path nor @ and a name");
  }
  if (name_.size() < 2 || name_.size() >= sizeof(sockaddr_un::sun_path)) {
    throw std::invalid_argument("NOTIFY_SOCKET='" + name_ + "': too short or too long, unix(7)");
  }
  fd_.Reset(::socket(AF_UNIX, SOCK_DGRAM, 0));
  if (!fd_) {
    throw std::system_error(errno, std::generic_category(), "socket for NOTIFY_SOCKET " + name_);
  }
  ::fcntl(fd_.Get(), F_SETFD, FD_CLOEXEC);  // no other thread runs yet that might start a program
  MuteSigpipe(fd_.Get());
}

void ServiceNotifier::Reloading(std::chrono::microseconds now) const noexcept {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "RELOADING=1\nMONOTONIC_USEC=%lld",
                static_cast<long long>(now.count()));
  Tell(text.data());
}

void ServiceNotifier::MainPid(pid_t pid) const noexcept {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "READY=1\nMAINPID=%lld", static_cast<long long>(pid));
  Tell(text.data());
}

auto ServiceNotifier::MonotonicTime() noexcept -> std::chrono::microseconds {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::microseconds(now.tv_nsec / 1000);
}

void ServiceNotifier::Tell(std::string_view lines) const noexcept {
  if (!IsHeard()) {
    return;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name_.data(), name_.size());
  std::size_t size = offsetof(sockaddr_un, sun_path) + name_.size();
  if (name_.front() == '@') {
    address.sun_path[0] = '\0';  // the length marks the end of the name, not a byte
  } else {
    ++size;
  }
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  ssize_t sent = -1;
  do {
    sent = ::sendto(fd_.Get(), lines.data(), lines.size(), MSG_DONTWAIT | kNoSignal, to,
                    static_cast<socklen_t>(size));
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) {
    LogTrouble(name_, errno);
  }
}

}  // namespace TURTLE_SERVER
