#include "core/buffer.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace TURTLE_SERVER {

namespace {

// The first block holds most requests, and is large enough that a large body doubles it rarely.
constexpr std::size_t kMinCapacity = 2048 - 3 * sizeof(std::size_t);

}  // namespace

auto Buffer::View() const noexcept -> std::string_view {
  return block_ ? std::string_view(block_->Bytes() + block_->begin, Size()) : std::string_view();
}

auto Buffer::Size() const noexcept -> std::size_t {
  return block_ ? block_->end - block_->begin : 0;
}

void Buffer::Append(std::string_view bytes) {
  if (bytes.empty()) {
    return;
  }
  std::memcpy(Prepare(bytes.size()), bytes.data(), bytes.size());
  Commit(bytes.size());
}

auto Buffer::Prepare(std::size_t room) -> char* {
  if (!block_ || block_->capacity - block_->end < room) {
    Grow(room);
  }
  return block_->Bytes() + block_->end;
}

void Buffer::Commit(std::size_t count) noexcept {
  block_->end += count;
  if (Empty()) {
    Clear();  // room was prepared, but nothing came
  }
}

void Buffer::Consume(std::size_t count) noexcept {
  if (count >= Size()) {
    Clear();
  } else {
    block_->begin += count;
  }
}

// Makes room at the back: by moving the bytes to the front if that frees at least as much as it
// moves, otherwise by a block twice the size.
void Buffer::Grow(std::size_t room) {
  const std::size_t size = Size();
  if (block_ && block_->begin >= size && block_->capacity - size >= room) {
    std::memmove(block_->Bytes(), block_->Bytes() + block_->begin, size);
    block_->begin = 0;
    block_->end = size;
    return;
  }
  const std::size_t capacity = std::max({kMinCapacity, 2 * size, size + room});
  void* memory = std::malloc(sizeof(Block) + capacity);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::unique_ptr<Block, Free> larger(new (memory) Block{capacity, 0, size});
  if (size != 0) {
    std::memcpy(larger->Bytes(), block_->Bytes() + block_->begin, size);
  }
  block_ = std::move(larger);
}

}  // namespace TURTLE_SERVER
