// Reads a part of a file into memory, completely or not at all.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Reads with pread(2), which leaves the file's position alone.
/// @param file an open regular file
/// @param offset in bytes, from the start of the file
/// @param size in bytes
/// @return nullopt if the file has fewer bytes, or they can't be read
[[nodiscard]] auto ReadFile(int file, std::uint64_t offset, std::uint64_t size)
    -> std::optional<std::string>;

}  // namespace TURTLE_SERVER
