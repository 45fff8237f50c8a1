#include "bench/descriptor_limit.h"

#include <sys/resource.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace TURTLE_SERVER {

void RequireDescriptors(std::uint64_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "getrlimit");
  }
  if (limit.rlim_cur >= count) {
    return;
  }
  const rlim_t allowed = limit.rlim_max;
  limit.rlim_cur = count;
  if (allowed < count) {
    limit.rlim_max = count;  // root may
  }
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw std::runtime_error("that needs " + std::to_string(count) +
                             " descriptors, and the limit is " + std::to_string(allowed) +
                             " (ulimit -Hn); take fewer connections, or have it raised");
  }
}

}  // namespace TURTLE_SERVER
