#include "base/descriptor_limit.h"

#include <sys/resource.h>

namespace TURTLE_SERVER {

auto RaiseDescriptorLimit(std::size_t /*wanted*/) noexcept -> std::size_t {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;  // TODO: raise it
}

}  // namespace TURTLE_SERVER
