// core/send_queue.h over Linux's SIOCOUTQ.
#ifdef __linux__

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "core/send_queue.h"

namespace TURTLE_SERVER {

auto SendQueueBytes(int socket) noexcept -> std::size_t {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
