// Raises the number of descriptors that this process may have.
//
// Thread: any; the limit is the process's.
#pragma once

#include <cstddef>

namespace TURTLE_SERVER {

/// Lets this process have at least `wanted` descriptors, or as many as it may allow itself. Never
/// lowers a limit that is already higher.
///
/// @return how many it may have now
auto RaiseDescriptorLimit(std::size_t wanted) noexcept -> std::size_t;

}  // namespace TURTLE_SERVER
