// Sends one text to all connections of a loop.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <string>

#include "core/looper.h"

namespace TURTLE_SERVER {

/// Sends `text` to every connection of the loop that can still be written to. All of them share one
/// copy, which is freed when the last of them has sent it or is gone.
/// @param looper the loop
/// @param text of any length; an empty one is not sent
/// @return how many connections got it
auto Broadcast(Looper& looper, std::string text) -> std::size_t;

}  // namespace TURTLE_SERVER
