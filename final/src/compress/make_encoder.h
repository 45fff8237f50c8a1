// Makes encoders.
//
// Thread: any.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compress/coding.h"
#include "compress/encoder.h"

namespace TURTLE_SERVER {

/// Makes an encoder.
/// @param coding not kIdentity
/// @param effort how hard it tries
/// @param size of the whole body in bytes, if it is known: with gzip and zstd, a short one needs
/// less memory
/// @throws std::bad_alloc
[[nodiscard]] auto MakeEncoder(Coding coding, Effort effort,
                               std::optional<std::size_t> size = std::nullopt)
    -> std::unique_ptr<Encoder>;

/// Encodes a whole body.
/// @throws std::bad_alloc
[[nodiscard]] auto EncodeAll(Coding coding, Effort effort, std::string_view plain) -> std::string;

}  // namespace TURTLE_SERVER
