#include "compress/brotli_memory.h"

#include <cstdint>
#include <cstdlib>

namespace TURTLE_SERVER {

BrotliMemory::~BrotliMemory() {
  while (first_ != nullptr) {
    Free(this, first_ + 1);
  }
}

auto BrotliMemory::Allocate(void* memory, std::size_t size) -> void* {
  auto& self = *static_cast<BrotliMemory*>(memory);
  const bool is_size = size <= SIZE_MAX - sizeof(Block);
  auto* const block = is_size ? static_cast<Block*>(std::malloc(sizeof(Block) + size)) : nullptr;
  if (block == nullptr) {
    std::longjmp(self.way_out_, 1);  // NOLINT(cert-err52-cpp)
  }
  block->previous = nullptr;
  block->next = self.first_;
  if (self.first_ != nullptr) {
    self.first_->previous = block;
  }
  self.first_ = block;
  return block + 1;
}

void BrotliMemory::Free(void* memory, void* bytes) {
  if (bytes == nullptr) {
    return;
  }
  auto& self = *static_cast<BrotliMemory*>(memory);
  Block* const block = static_cast<Block*>(bytes) - 1;
  (block->previous != nullptr ? block->previous->next : self.first_) = block->next;
  if (block->next != nullptr) {
    block->next->previous = block->previous;
  }
  std::free(block);
}

}  // namespace TURTLE_SERVER
