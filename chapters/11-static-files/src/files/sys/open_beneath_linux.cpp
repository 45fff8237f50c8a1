// The Linux version: openat2(2), since 5.6, which the C library does not wrap.
#ifdef __linux__

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "files/open_beneath.h"

namespace TURTLE_SERVER {

auto OpenBeneath(int folder, const std::string& path) noexcept -> UniqueFd {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const char* name = path.empty() ? "." : path.c_str();
  // EAGAIN: a rename interfered, or another process has a lease on the file.
  constexpr int kTries = 16;
  long fd = -1;
  for (int tries = 0; tries < kTries; ++tries) {
    fd = syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) {
      break;
    }
  }
  // An old kernel, a sandbox, or a link that the kernel refuses, perhaps an absolute one.
  if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EXDEV)) {
    return OpenBeneathBySegments(folder, path);
  }
  return UniqueFd(static_cast<int>(fd));
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
