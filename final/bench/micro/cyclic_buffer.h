// The buffer that Turtle does not have: bytes in a ring. For buffer_shape_bench.
//
// Taking and adding never move the remaining bytes, but these may be in two parts: a parser, which
// needs one piece, has to straighten them.
//
// Interface: Append() and Consume() as in Buffer; Straight() gives all bytes in one piece.
//
// Thread: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER::bench {

/// A ring of bytes that grows and keeps its memory.
class CyclicBuffer {
 public:
  /// Returns how many bytes there are.
  [[nodiscard]] auto Size() const -> std::size_t { return end_ - begin_; }

  /// Copies `bytes` to the back.
  void Append(std::string_view bytes) {
    if (ring_.size() - Size() < bytes.size()) {
      MoveTo(std::max(2 * ring_.size(), RoundUp(Size() + bytes.size())));
    }
    const std::size_t at = end_ & (ring_.size() - 1);
    const std::size_t first = std::min(bytes.size(), ring_.size() - at);
    std::memcpy(&ring_[at], bytes.data(), first);
    std::memcpy(ring_.data(), bytes.data() + first, bytes.size() - first);
    end_ += bytes.size();
  }

  /// Returns all bytes in one piece; moves them if they are in two.
  [[nodiscard]] auto Straight() -> std::string_view {
    const std::size_t at = begin_ & (ring_.size() - 1);
    if (ring_.size() - at < Size()) {
      MoveTo(ring_.size());
      return {ring_.data(), Size()};
    }
    return {ring_.data() + at, Size()};
  }

  /// Drops `count` bytes from the front.
  void Consume(std::size_t count) {
    begin_ += std::min(count, Size());
    if (begin_ == end_) {
      begin_ = end_ = 0;  // the next bytes then fit in one piece for longer
    }
  }

 private:
  static auto RoundUp(std::size_t bytes) -> std::size_t {
    std::size_t size = 2048;
    while (size < bytes) {
      size *= 2;
    }
    return size;
  }

  void MoveTo(std::size_t size) {
    std::vector<char> straight(size);
    const std::size_t count = Size();
    if (count != 0) {
      const std::size_t at = begin_ & (ring_.size() - 1);
      const std::size_t first = std::min(count, ring_.size() - at);
      std::memcpy(straight.data(), &ring_[at], first);
      std::memcpy(straight.data() + first, ring_.data(), count - first);
    }
    ring_.swap(straight);
    begin_ = 0;
    end_ = count;
  }

  std::vector<char> ring_;  // its size is a power of two
  std::size_t begin_ = 0;   // both count forever; the lowest bits are the place in the ring
  std::size_t end_ = 0;
};

}  // namespace TURTLE_SERVER::bench
