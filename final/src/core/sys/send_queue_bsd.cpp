// core/send_queue.h for macOS and FreeBSD.
#ifndef __linux__

#include <sys/ioctl.h>
#include <sys/socket.h>

#include "core/send_queue.h"

namespace TURTLE_SERVER {

auto SendQueueBytes(int socket) noexcept -> std::size_t {
  int bytes = 0;
#if defined(__APPLE__)
  socklen_t size = sizeof bytes;
  const int result = ::getsockopt(socket, SOL_SOCKET, SO_NWRITE, &bytes, &size);
#else
  const int result = ::ioctl(socket, FIONWRITE, &bytes);
#endif
  return result == 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace TURTLE_SERVER

#endif  // !__linux__
