// Bytes that show where they belong: a lost, repeated or moved piece is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace TURTLE_SERVER::test {

/// Returns `size` bytes of a fixed sequence that repeats only after 2^32 of them.
inline auto Pattern(std::size_t size) -> std::string {
  std::string bytes;
  bytes.reserve(size);
  std::uint32_t state = 1;
  while (bytes.size() < size) {
    state = state * 1664525U + 1013904223U;
    bytes.push_back(static_cast<char>(state >> 24));
  }
  return bytes;
}

}  // namespace TURTLE_SERVER::test
