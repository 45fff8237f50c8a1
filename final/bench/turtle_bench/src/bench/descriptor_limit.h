// Room for many connections.
#pragma once

#include <cstdint>

#include "core/namespace.h"

namespace TURTLE_SERVER {

/// Sees to it that the process may have `count` descriptors open at once (RLIMIT_NOFILE,
/// getrlimit(2)), and raises the limit if it has to.
/// @throws std::runtime_error when that is not allowed; the text says what the limit is.
void RequireDescriptors(std::uint64_t count);

}  // namespace TURTLE_SERVER
