#include "app/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace TURTLE_SERVER {

auto OpenStandardDescriptors() noexcept -> int {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // The lowest free number is used, and all lower ones are open: the result is `fd`.
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) {
      return errno;
    }
  }
  return 0;
}

}  // namespace TURTLE_SERVER
