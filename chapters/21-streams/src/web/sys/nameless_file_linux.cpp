// The Linux version: O_TMPFILE, since 3.11, on most file systems.
#ifdef __linux__

#include <fcntl.h>

#include <cerrno>

#include "web/nameless_file.h"

namespace TURTLE_SERVER {

auto OpenNameless(const std::string& folder) -> UniqueFd {
  UniqueFd fd(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  // EISDIR comes from a kernel that doesn't know the flag (open(2)).
  if (!fd && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    return OpenNamelessByUnlink(folder);
  }
  return fd;
}

}  // namespace TURTLE_SERVER

#endif
