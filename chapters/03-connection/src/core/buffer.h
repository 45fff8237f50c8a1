// Bytes in at the back, out at the front.
//
// Interface:
//  * Append() copies bytes in; Prepare() and Commit() let recv(2) write them in without a copy.
//  * View() shows what is there, Consume() drops what has been used, from the front.
//  * An empty Buffer owns no memory: ten thousand idle connections pay a null pointer each.
//
// Taking from the front moves an index, not the bytes. The rest is moved at most once for every
// time the free room at the front has outgrown it. So the total cost is linear in the bytes that
// went through.
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
  /// All the bytes that are there; valid until the next call that is not const.
  [[nodiscard]] auto View() const noexcept -> std::string_view;

  /// How many bytes are there.
  [[nodiscard]] auto Size() const noexcept -> std::size_t;

  /// True when nothing is there, and no memory is held.
  [[nodiscard]] auto Empty() const noexcept -> bool { return Size() == 0; }

  /// Copies `bytes` to the back. Throws std::bad_alloc. `bytes` may not be a part of this Buffer.
  void Append(std::string_view bytes);

  /// Room for `room` bytes at the back, uninitialised; valid until the next call that is not
  /// const. Follow it with Commit(), or nothing has happened. Throws std::bad_alloc.
  [[nodiscard]] auto Prepare(std::size_t room) -> char*;

  /// The first `count` bytes of what Prepare() gave now hold data.
  void Commit(std::size_t count) noexcept;

  /// Drops `count` bytes from the front; all of them when there are fewer.
  void Consume(std::size_t count) noexcept;

  /// Drops everything and gives the memory back.
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
