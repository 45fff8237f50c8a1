#include "core/send_file.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/block_pool.h"

namespace TURTLE_SERVER {

namespace {

struct GiveBack {
  void operator()(void* block) const noexcept { BlockPool::Give(block); }
};

}  // namespace

auto CopyFile(int socket, int file, std::uint64_t offset, std::size_t count) -> IoResult {
  const std::unique_ptr<void, GiveBack> block(BlockPool::Take());
  ssize_t got = 0;
  do {
    got = pread(file, block.get(), std::min(count, BlockPool::kBlockBytes),
                static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return {IoStatus::kError, 0, errno};
  }
  if (got == 0) {
    return {IoStatus::kEnd, 0, 0};
  }
  // What the socket does not take is read again next time: a file has no other place to wait.
  const auto length = static_cast<std::size_t>(got);
  ssize_t sent = 0;
  do {
    sent = send(socket, block.get(), length, SendFlags(length < count));
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    return {IoStatus::kBytes, static_cast<std::size_t>(sent), 0};
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    return {IoStatus::kWouldBlock, 0, 0};
  }
  return {IoStatus::kError, 0, errno};
}

}  // namespace TURTLE_SERVER
