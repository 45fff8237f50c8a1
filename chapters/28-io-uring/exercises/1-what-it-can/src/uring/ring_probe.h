// Lists the operations of this kernel's io_uring(7).
//
// Thread: any.
#pragma once

#include <cstdint>
#include <vector>

namespace TURTLE_SERVER {

/// Returns the operations that the running kernel knows, as IORING_OP_ values, in ascending order.
/// Uses IORING_REGISTER_PROBE, io_uring_register(2), on a temporary ring.
///
/// @throws std::system_error that names the refused call: "io_uring_setup: …",
/// "io_uring_register: …"
[[nodiscard]] auto KnownOperations() -> std::vector<std::uint8_t>;

}  // namespace TURTLE_SERVER
