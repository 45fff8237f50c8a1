// Standard input, output and error of a program that may have been started without them.
//
// A program that is started with `2>&-` has no descriptor 2, and the first file or socket that it
// opens becomes its standard error: whatever is written there arrives at a client, say.
//
// Thread: at the beginning of main(), before there are others.
#pragma once

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed. Programs that are started
/// later inherit it.
/// @return 0, or the errno value of what failed.
[[nodiscard]] auto OpenStandardDescriptors() noexcept -> int;

}  // namespace TURTLE_SERVER
