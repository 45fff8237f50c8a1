#include "ops/inherited_listeners.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace TURTLE_SERVER {

namespace {

auto TakeVariable(const char* name) -> std::optional<std::string> {
  const char* const value = std::getenv(name);
  std::optional<std::string> taken;
  if (value != nullptr) {
    taken = value;
    ::unsetenv(name);
  }
  return taken;
}

// Parses the whole text, in decimal.
auto NumberIn(const char* variable, const std::string& text, long most) -> long {
  long number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end || number < 1 || number > most) {
    throw std::runtime_error(std::string(variable) + "='" + text + "' is not a number from 1 to " +
                             std::to_string(most));
  }
  return number;
}

auto NamesIn(const std::optional<std::string>& variable, std::size_t count)
    -> std::vector<std::string> {
  if (!variable) {
    return std::vector<std::string>(count, "unknown");  // as sd_listen_fds_with_names(3) has it
  }
  std::vector<std::string> names(1);
  for (const char each : *variable) {
    if (each == ':') {
      names.emplace_back();
    } else {
      names.back().push_back(each);
    }
  }
  if (names.size() != count) {
    throw std::runtime_error("LISTEN_FDNAMES='" + *variable + "' has " +
                             std::to_string(names.size()) + " names for " + std::to_string(count) +
                             " descriptors");
  }
  return names;
}

auto NameOf(int fd, const std::string& name) -> std::string {
  return "inherited descriptor " + std::to_string(fd) + " (" + name + ")";
}

auto OptionOf(int fd, int option) -> int {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

// Returns the path, unix(7): a path in the file system may or may not end with a NUL byte, and a
// name that begins with one has no file.
auto PathOf(const sockaddr_un& address, socklen_t size) -> std::string {
  constexpr socklen_t kBefore = offsetof(sockaddr_un, sun_path);
  const std::size_t room = sizeof address.sun_path;
  const std::size_t length = size > kBefore ? std::min<std::size_t>(size - kBefore, room) : 0;
  if (length == 0) {
    return "@";
  }
  if (address.sun_path[0] == '\0') {
    return "@" + std::string(address.sun_path + 1, length - 1);
  }
  return std::string(address.sun_path, ::strnlen(address.sun_path, length));
}

}  // namespace

auto TakeListenEnvironment() -> ListenEnvironment {
  ListenEnvironment taken;
  taken.pid = TakeVariable("LISTEN_PID");
  taken.fds = TakeVariable("LISTEN_FDS");
  taken.names = TakeVariable("LISTEN_FDNAMES");
  static_cast<void>(TakeVariable("LISTEN_PIDFDID"));  // newer, and means the same as LISTEN_PID
  return taken;
}

InheritedListeners::InheritedListeners(const ListenEnvironment& environment, long pid, int first) {
  if (!environment.pid || !environment.fds) {
    return;
  }
  constexpr int kMost = std::numeric_limits<int>::max();
  if (NumberIn("LISTEN_PID", *environment.pid, kMost) != pid) {
    return;  // they are for the process that started us
  }
  const auto count = static_cast<int>(NumberIn("LISTEN_FDS", *environment.fds, kMost - first));
  // Checked first, so that a count that is far too high makes no such list of names.
  if (::fcntl(first + count - 1, F_GETFD) < 0) {
    throw std::runtime_error("LISTEN_FDS='" + *environment.fds + "': descriptor " +
                             std::to_string(first + count - 1) + " is not open");
  }
  const std::vector<std::string> names =
      NamesIn(environment.names, static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    entries_.push_back(Inspect(first + i, names[static_cast<std::size_t>(i)]));
  }
}

auto InheritedListeners::Inspect(int fd, std::string name) -> Entry {
  const std::string what = NameOf(fd, name);
  const int flags = ::fcntl(fd, F_GETFD);
  if (flags < 0 || ::fcntl(fd, F_SETFD, flags | FD_CLOEXEC) != 0) {
    throw std::runtime_error(what + " is not open");
  }
  if (OptionOf(fd, SO_TYPE) != SOCK_STREAM) {
    throw std::runtime_error(what + " is not a stream socket");
  }
  if (OptionOf(fd, SO_ACCEPTCONN) != 1) {
    throw std::runtime_error(what + " does not listen");
  }
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* const bytes = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(fd, bytes, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "getsockname, " + what);
  }
  Entry entry{fd, {}, {}, {}};
  if (storage.ss_family == AF_UNIX) {
    sockaddr_un path{};
    std::memcpy(&path, &storage, sizeof path);
    entry.path = PathOf(path, size);
  } else if (storage.ss_family == AF_INET || storage.ss_family == AF_INET6) {
    std::memcpy(entry.address.Data(), &storage, std::min<std::size_t>(size, entry.address.Size()));
    *entry.address.Length() = size;
  } else {
    throw std::runtime_error(what + " is of address family " + std::to_string(storage.ss_family) +
                             ", not IPv4, IPv6 or unix");
  }
  entry.listener = {Socket(UniqueFd(fd)), std::move(name)};
  return entry;
}

template <typename Wanted>
auto InheritedListeners::TakeFirst(const Wanted& wanted) -> std::optional<Listener> {
  const auto found = std::find_if(entries_.begin(), entries_.end(), wanted);
  if (found == entries_.end()) {
    return std::nullopt;
  }
  Listener listener = std::move(found->listener);
  entries_.erase(found);
  return listener;
}

auto InheritedListeners::Take(const NetAddress& address) -> std::optional<Listener> {
  return TakeFirst([&address](const Entry& entry) {
    return entry.path.empty() && entry.address.Ip() == address.Ip() &&
           (address.Port() == 0 || address.Port() == entry.address.Port());
  });
}

auto InheritedListeners::TakePath(std::string_view path) -> std::optional<Listener> {
  return TakeFirst([path](const Entry& entry) { return !path.empty() && entry.path == path; });
}

void InheritedListeners::RequireAllTaken() const {
  std::string left;
  for (const Entry& entry : entries_) {
    left += left.empty() ? "" : "; ";
    left += NameOf(entry.number, entry.listener.name) + " listens on " +
            (entry.path.empty() ? entry.address.ToString() : "unix:" + entry.path);
  }
  if (!left.empty()) {
    throw std::runtime_error(left + ": not among the addresses to serve");
  }
}

}  // namespace TURTLE_SERVER
