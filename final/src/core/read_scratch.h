// The buffer that all connections of one loop read into.
//
// A loop serves one connection at a time, so one large buffer is enough for all of them. Most input
// is consumed by the handler that requested it; the rest is copied to the connection's own Buffer
// before the next connection reads. An idle connection owns no input memory.
//
// An engine that receives ahead lends the memory that holds the bytes: they aren't copied here.
//
// Thread: the loop's.
#pragma once

#include <array>
#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

class Connection;

/// One loop's read buffer, and the owner of the bytes in it or in memory that the engine has lent.
struct ReadScratch {
  static constexpr std::size_t kSize = std::size_t{64} * 1024;  ///< the most that one recv(2) takes

  Connection* owner = nullptr;    ///< of the input here; nullptr: none
  const char* begin = nullptr;    ///< the first byte not consumed
  const char* end = nullptr;      ///< past the last byte
  std::array<char, kSize> bytes;  ///< the room; not initialised

  /// Returns how many bytes were not consumed.
  [[nodiscard]] auto Size() const noexcept -> std::size_t {
    return static_cast<std::size_t>(end - begin);
  }

  /// Refers to these bytes from now on.
  void Hold(Connection* whose, const char* from, std::size_t count) noexcept {
    owner = whose;
    begin = from;
    end = from + count;
  }
};

}  // namespace TURTLE_SERVER
