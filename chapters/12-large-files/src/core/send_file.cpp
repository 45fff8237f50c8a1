#include "core/send_file.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace TURTLE_SERVER {

auto CopyFile(int socket, int file, std::uint64_t offset, std::size_t count) -> IoResult {
  std::array<char, kCopiedBytes> block;  // not initialised
  ssize_t got = 0;
  do {
    got = pread(file, block.data(), std::min(count, block.size()), static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return {IoStatus::kError, 0, errno};
  }
  if (got == 0) {
    return {IoStatus::kEnd, 0, 0};
  }
  // Bytes that the socket does not take are read again next time: a file's bytes have no other
  // place to wait.
  const auto length = static_cast<std::size_t>(got);
  ssize_t sent = 0;
  do {
    sent = send(socket, block.data(), length, SendFlags(length < count));
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    return {IoStatus::kBytes, static_cast<std::size_t>(sent), 0};
  }
  return IoFailure(errno);
}

}  // namespace TURTLE_SERVER
