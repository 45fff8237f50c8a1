// Makes room for many connections.
#pragma once

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Makes sure that the process may have `needed` descriptors open at once (RLIMIT_NOFILE,
/// getrlimit(2)), and raises the limit if it has to.
/// @param needed how many it can't do without
/// @param wanted more, which are only requested
/// @return the limit now
/// @throws std::runtime_error if `needed` is not allowed; the text contains the limit.
auto RequireDescriptors(std::uint64_t needed, std::uint64_t wanted) -> std::uint64_t;

}  // namespace TURTLE_SERVER
