// The buffer that all connections of one loop read into.
//
// A loop serves one connection at a time, so one large buffer is enough for all of them. Most input
// is consumed by the handler that requested it; the rest is copied to the connection's own Buffer
// before the next connection reads. An idle connection owns no input memory.
//
// Thread: the loop's.
#pragma once

#include <array>
#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

class Connection;

/// One loop's read buffer, and the owner of the bytes in it.
struct ReadScratch {
  static constexpr std::size_t kSize = std::size_t{64} * 1024;  ///< the most that one recv(2) takes

  Connection* owner = nullptr;    ///< of the input here; nullptr: none
  std::size_t begin = 0;          ///< the first byte not consumed
  std::size_t end = 0;            ///< past the last byte
  std::array<char, kSize> bytes;  ///< the room; not initialised
};

}  // namespace TURTLE_SERVER
