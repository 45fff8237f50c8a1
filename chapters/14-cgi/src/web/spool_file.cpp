#include "web/spool_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kGathered = std::size_t{8} * 1024;

}  // namespace

auto SpoolFile::Open() -> int {
  gathered_.reserve(kGathered);
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
  size_ += bytes.size();
  if (gathered_.size() + bytes.size() > kGathered) {
    if (const int error = Flush(); error != 0) {
      return error;
    }
  }
  if (bytes.size() > kGathered) {
    return WriteOut(bytes);
  }
  gathered_.append(bytes);  // does not allocate: Open() has reserved the memory
  return 0;
}

auto SpoolFile::Rewind() noexcept -> int {
  const int error = Flush();
  std::string().swap(gathered_);  // frees the memory: the program may run for long
  return error != 0 || lseek(fd_.Get(), 0, SEEK_SET) == 0 ? error : errno;
}

auto SpoolFile::Flush() noexcept -> int {
  const int error = WriteOut(gathered_);
  gathered_.clear();
  return error;
}

auto SpoolFile::WriteOut(std::string_view bytes) noexcept -> int {
  while (!bytes.empty()) {
    const ssize_t count = write(fd_.Get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return errno;
    }
    bytes.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return 0;
}

}  // namespace TURTLE_SERVER
