// Overwrites secrets that are no longer needed.
//
// A freed secret stays in memory until something else is put there, and a core dump shows it. A
// compiler may drop a write that nobody reads, so this one is volatile.
//
// Thread: any.
#pragma once

#include <cstddef>
#include <string>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Overwrites bytes with zeros.
inline void Wipe(char* bytes, std::size_t count) noexcept {
  volatile char* const memory = bytes;
  for (std::size_t i = 0; i < count; ++i) {
    memory[i] = '\0';
  }
}

/// Overwrites the bytes of a text and empties it. If it has grown, it had other memory before.
inline void Wipe(std::string& text) noexcept {
  Wipe(text.data(), text.size());
  text.clear();
}

}  // namespace TURTLE_SERVER
