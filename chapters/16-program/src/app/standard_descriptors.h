// Opens standard input, output and error for a program started without them.
//
// A program started with `2>&-` has no descriptor 2, and the first file or socket that it opens
// becomes its standard error: error messages could then reach a client.
//
// Thread: at the beginning of main(), before there are other threads.
#pragma once

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Opens /dev/null for each closed descriptor among 0, 1 and 2. Programs started later inherit
/// it.
/// @return 0 or an errno value.
[[nodiscard]] auto OpenStandardDescriptors() noexcept -> int;

}  // namespace TURTLE_SERVER
