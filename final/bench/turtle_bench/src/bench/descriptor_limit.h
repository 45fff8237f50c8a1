// Room for many connections.
#pragma once

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Makes sure that the process may have `needed` descriptors open at once (RLIMIT_NOFILE,
/// getrlimit(2)), and raises the limit if it has to.
/// @param needed without them it can't go on
/// @param wanted more, which are only asked for
/// @return the limit now
/// @throws std::runtime_error when `needed` is not allowed; the text says what the limit is.
auto RequireDescriptors(std::uint64_t needed, std::uint64_t wanted) -> std::uint64_t;

}  // namespace TURTLE_SERVER
