#include "bench/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace TURTLE_SERVER {

auto RequireDescriptors(std::uint64_t needed, std::uint64_t wanted) -> std::uint64_t {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "getrlimit");
  }
  const rlim_t allowed = limit.rlim_max;
  // As many as we like (root may raise the hard limit too), or as many as we are allowed.
  for (const std::uint64_t count : {wanted, std::min<std::uint64_t>(wanted, allowed), needed}) {
    if (count < needed) {
      continue;
    }
    if (limit.rlim_cur >= count) {
      return limit.rlim_cur;
    }
    const rlimit raised{count, std::max<rlim_t>(count, allowed)};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      return count;
    }
  }
  throw std::runtime_error("that needs " + std::to_string(needed) +
                           " descriptors, and the limit is " + std::to_string(allowed) +
                           " (ulimit -Hn); take fewer connections, or have it raised");
}

}  // namespace TURTLE_SERVER
