// The abilities of this kernel's io_uring(7).
//
// Thread: any.
#pragma once

#include <cstdint>
#include <vector>

namespace TURTLE_SERVER {

/// The operations that the running kernel knows, as IORING_OP_ values, the smallest first. Asked by
/// IORING_REGISTER_PROBE, io_uring_register(2), of a ring that is made for it and gone afterwards.
///
/// @throws std::system_error that names the call which was refused: "io_uring_setup: …",
/// "io_uring_register: …"
[[nodiscard]] auto KnownOperations() -> std::vector<std::uint8_t>;

}  // namespace TURTLE_SERVER
