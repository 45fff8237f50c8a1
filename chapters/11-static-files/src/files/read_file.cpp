#include "files/read_file.h"

#include <unistd.h>

#include <cerrno>

namespace TURTLE_SERVER {

auto ReadFile(int file, std::uint64_t offset, std::uint64_t size) -> std::optional<std::string> {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace TURTLE_SERVER
