#include "core/unix_listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/socket_calls.h"

namespace TURTLE_SERVER {

namespace {

constexpr mode_t kEverybody = 0666;

[[noreturn]] void Fail(int error, const char* what, const std::string& path) {
  throw std::system_error(error, std::generic_category(), what + (" unix:" + path));
}

auto AddressOf(const std::string& path) -> sockaddr_un {
  sockaddr_un address{};
  const char* trouble = path.empty()                             ? "empty"
                        : path.find('\0') != std::string::npos   ? "a NUL byte is in it"
                        : path.size() >= sizeof address.sun_path ? "too long for a socket, unix(7)"
                                                                 : nullptr;
  if (trouble != nullptr) {
    throw std::invalid_argument("path \"" + path.substr(0, path.find('\0')) + "\": " + trouble);
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

auto BindTo(int fd, const sockaddr_un& address) -> int {
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

// True for a socket file that refuses clients: a program that was killed has left it.
auto IsDead(const sockaddr_un& address) -> bool {
  struct stat file {};
  if (::lstat(address.sun_path, &file) != 0 || !S_ISSOCK(file.st_mode)) {
    return false;
  }
  const auto* place = reinterpret_cast<const sockaddr*>(&address);
  const UniqueFd client(OpenSocket(AF_UNIX, FdMode::kNonBlocking));
  return client && ::connect(client.Get(), place, sizeof address) != 0 && errno == ECONNREFUSED;
}

}  // namespace

UnixListener::UnixListener(std::string path, int backlog) : path_(std::move(path)) {
  const sockaddr_un address = AddressOf(path_);
  UniqueFd fd(OpenSocket(AF_UNIX, FdMode::kBlocking));
  if (!fd) {
    Fail(errno, "socket", path_);
  }
  int error = BindTo(fd.Get(), address);
  if (error == EADDRINUSE && IsDead(address) && ::unlink(address.sun_path) == 0) {
    error = BindTo(fd.Get(), address);
  }
  if (error != 0) {
    Fail(error, "bind", path_);
  }
  // Nobody can connect before listen(2). A link that somebody has put in the file's place is not
  // followed: chmod(2) would open another file to everybody.
  struct stat file {};
  if (::fchmodat(AT_FDCWD, address.sun_path, kEverybody, AT_SYMLINK_NOFOLLOW) != 0 ||
      ::lstat(address.sun_path, &file) != 0 || ::listen(fd.Get(), backlog) != 0) {
    error = errno;
    ::unlink(address.sun_path);
    Fail(error, "listen", path_);
  }
  device_ = file.st_dev;
  inode_ = file.st_ino;
  socket_ = Socket(std::move(fd));
}

UnixListener::~UnixListener() {
  struct stat file {};
  if (::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

}  // namespace TURTLE_SERVER
