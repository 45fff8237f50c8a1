// A number that represents a body, so that two bodies can be compared without keeping either.
//
// Four lanes take eight bytes each, so the processor works on four multiplications at once. The
// load generator looks at every byte that the server sends, and must not be the slower of the two.
// Each step can be undone, so bodies of one length that differ in one word never have the same
// digest. It is no defence against an attacker who looks for collisions.
//
// Interface:
//  * Add() takes the bytes, in any pieces: the cuts do not change the digest.
//  * Value() and Size() are the digest and the number of bytes so far.
//
// Thread: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Digest of a sequence of bytes.
class BodyDigest {
 public:
  /// Takes the next bytes.
  void Add(std::string_view bytes) noexcept;

  /// Returns how many bytes were added.
  [[nodiscard]] auto Size() const noexcept -> std::uint64_t { return size_; }

  /// Returns the digest of all bytes that were added.
  [[nodiscard]] auto Value() const noexcept -> std::uint64_t;

 private:
  static constexpr std::size_t kLanes = 4;
  static constexpr std::size_t kBlock = kLanes * sizeof(std::uint64_t);
  using Lanes = std::array<std::uint64_t, kLanes>;

  static void Mix(Lanes& lanes, const char* blocks, std::size_t count) noexcept;

  // Different starts, so that swapped lanes make a difference.
  Lanes lanes_{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89};
  std::array<char, kBlock> rest_{};  // bytes that do not fill a block yet
  std::uint64_t size_ = 0;
};

}  // namespace TURTLE_SERVER
