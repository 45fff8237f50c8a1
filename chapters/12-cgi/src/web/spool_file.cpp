#include "web/spool_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace TURTLE_SERVER {

auto SpoolFile::Open() -> int {
  const char* folder = std::getenv("TMPDIR");
  std::string name = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  name += "/turtle-XXXXXX";
  fd_.Reset(mkostemp(name.data(), O_CLOEXEC));  // mode 0600
  if (!fd_ || unlink(name.c_str()) != 0) {
    return errno;
  }
  return 0;
}

auto SpoolFile::Write(std::string_view bytes) noexcept -> int {
  while (!bytes.empty()) {
    const ssize_t count = write(fd_.Get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return errno;
    }
    const std::size_t written = count > 0 ? static_cast<std::size_t>(count) : 0;
    bytes.remove_prefix(written);
    size_ += written;
  }
  return 0;
}

auto SpoolFile::Rewind() noexcept -> int { return lseek(fd_.Get(), 0, SEEK_SET) == 0 ? 0 : errno; }

}  // namespace TURTLE_SERVER
