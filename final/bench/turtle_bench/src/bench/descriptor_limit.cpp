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
  const auto allowed = static_cast<std::uint64_t>(limit.rlim_max);  // rlim_t is signed on FreeBSD
  // As many as we like (root may raise the hard limit too), or as many as we are allowed.
  for (const std::uint64_t count : {wanted, std::min(wanted, allowed), needed}) {
    if (count < needed) {
      continue;
    }
    if (const auto current = static_cast<std::uint64_t>(limit.rlim_cur); current >= count) {
      return current;
    }
    const rlimit raised{static_cast<rlim_t>(count), static_cast<rlim_t>(std::max(count, allowed))};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      return count;
    }
  }
  throw std::runtime_error("that needs " + std::to_string(needed) +
                           " descriptors, and the limit is " + std::to_string(allowed) +
                           " (ulimit -Hn); take fewer connections, or have it raised");
}

}  // namespace TURTLE_SERVER
