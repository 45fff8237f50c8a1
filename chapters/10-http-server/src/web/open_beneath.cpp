// The way that every system has: one openat(2) for each segment.
#include "web/open_beneath.h"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

namespace TURTLE_SERVER {

auto OpenBeneathBySegments(int folder, const std::string& path) noexcept -> UniqueFd {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
  UniqueFd current;
  int base = folder;
  std::size_t begin = 0;
  while (true) {
    std::size_t end = path.find('/', begin);
    const bool last = end == std::string::npos;
    end = last ? path.size() : end;
    const std::string_view segment(path.data() + begin, end - begin);
    if (segment == "..") {
      errno = EXDEV;
      return UniqueFd();
    }
    char name[256];  // NAME_MAX and its NUL
    if (segment.size() >= sizeof name) {
      errno = ENAMETOOLONG;
      return UniqueFd();
    }
    name[segment.copy(name, segment.size())] = '\0';
    UniqueFd next(openat(base, segment.empty() ? "." : name, last ? kFlags : kFlags | O_DIRECTORY));
    if (!next || last) {
      return next;
    }
    current = std::move(next);
    base = current.Get();
    begin = end + 1;
  }
}

#ifndef __linux__
auto OpenBeneath(int folder, const std::string& path) noexcept -> UniqueFd {
  return OpenBeneathBySegments(folder, path);
}
#endif

}  // namespace TURTLE_SERVER
