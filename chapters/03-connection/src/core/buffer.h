// A queue of bytes: in at the back, out at the front.
//
// Interface:
//  * Append() copies bytes in; Prepare() and Commit() let recv(2) write them in without a copy.
//  * View() returns the bytes, Consume() drops used bytes from the front.
//  * An empty Buffer owns no memory: ten thousand idle connections pay a null pointer each.
//
// Taking from the front moves an index, not the bytes. The rest is moved only once the free
// room at the front has outgrown it. So the total cost is linear in the bytes that passed
// through.
//
// Thread: one at a time; a Buffer belongs to its connection's loop.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A queue of bytes in one contiguous block of memory.
class Buffer {
 public:
  /// Returns all the bytes; valid until the next call that is not const.
  [[nodiscard]] auto View() const noexcept -> std::string_view;

  /// Returns how many bytes there are.
  [[nodiscard]] auto Size() const noexcept -> std::size_t;

  /// True when there are no bytes. Then no memory is held, except between Prepare() and Commit().
  [[nodiscard]] auto Empty() const noexcept -> bool { return Size() == 0; }

  /// Copies `bytes` to the back. Throws std::bad_alloc. `bytes` must not be a part of this Buffer.
  void Append(std::string_view bytes);

  /// Returns room for `room` bytes at the back, uninitialised; valid until the next call that is
  /// not const. Without a Commit() afterwards, nothing has changed. Throws std::bad_alloc.
  [[nodiscard]] auto Prepare(std::size_t room) -> char*;

  /// Makes the first `count` bytes of the prepared room a part of the queue.
  void Commit(std::size_t count) noexcept;

  /// Drops `count` bytes from the front; all of them if there are fewer.
  void Consume(std::size_t count) noexcept;

  /// Drops everything and frees the memory.
  void Clear() noexcept { block_.reset(); }

 private:
  // One allocation: this head, followed by `capacity` bytes. Data is [begin, end).
  struct Block {
    std::size_t capacity;
    std::size_t begin;
    std::size_t end;

    auto Bytes() noexcept -> char* { return reinterpret_cast<char*>(this + 1); }
  };
  struct Free {
    void operator()(Block* block) const noexcept { std::free(block); }
  };

  void Grow(std::size_t room);

  std::unique_ptr<Block, Free> block_;
};

static_assert(sizeof(Buffer) == sizeof(void*), "an idle connection pays a pointer for a Buffer");

}  // namespace TURTLE_SERVER
