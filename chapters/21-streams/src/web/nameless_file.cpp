#include "web/nameless_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace TURTLE_SERVER {

namespace {

auto WriteAll(int fd, const char* bytes, std::size_t size) noexcept -> int {
  while (size > 0) {
    const ssize_t count = write(fd, bytes, size);
    if (count < 0 && errno != EINTR) {
      return errno;
    }
    bytes += count > 0 ? count : 0;
    size -= count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return 0;
}

// Copies all of `from`, whatever its read position is.
auto Copy(int from, int to) noexcept -> int {
  std::array<char, std::size_t{16} * 1024> bytes;
  for (off_t at = 0;;) {
    const ssize_t count = pread(from, bytes.data(), bytes.size(), at);
    if (count == 0) {
      return 0;
    }
    if (count < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    if (const int error = WriteAll(to, bytes.data(), static_cast<std::size_t>(count)); error != 0) {
      return error;
    }
    at += count;
  }
}

auto CopyTo(int fd, const char* path) noexcept -> int {
  UniqueFd to(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!to) {
    return errno;
  }
  int error = Copy(fd, to.Get());
  // Some file systems report only now that the disk is full.
  if (close(to.Release()) != 0 && error == 0) {
    error = errno;
  }
  if (error != 0) {
    unlink(path);
  }
  return error;
}

}  // namespace

auto OpenNamelessByUnlink(const std::string& folder) -> UniqueFd {
  std::string name = folder + "/turtle-XXXXXX";
  UniqueFd fd(mkostemp(name.data(), O_CLOEXEC));  // mode 0600
  if (fd && unlink(name.c_str()) != 0) {
    fd.Reset();
  }
  return fd;
}

auto GiveName(int fd, const std::string& path) noexcept -> int {
  std::array<char, 32> link{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  if (linkat(AT_FDCWD, link.data(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    return 0;
  }
  // A file that once had a name can't get one (ENOENT); another file system (EXDEV); no /proc.
  return errno == EEXIST ? EEXIST : CopyTo(fd, path.c_str());
}

#ifndef __linux__
auto OpenNameless(const std::string& folder) -> UniqueFd { return OpenNamelessByUnlink(folder); }
#endif

}  // namespace TURTLE_SERVER
