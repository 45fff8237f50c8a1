// Makes decoders.
//
// Thread: any.
#pragma once

#include <memory>

#include "compress/coding.h"
#include "compress/decoder.h"

namespace TURTLE_SERVER {

/// Makes a decoder.
/// @param coding not kIdentity
/// @throws std::bad_alloc
[[nodiscard]] auto MakeDecoder(Coding coding) -> std::unique_ptr<Decoder>;

}  // namespace TURTLE_SERVER
