#include "app/memory_reserve.h"

#include <new>

namespace TURTLE_SERVER {

thread_local MemoryReserve* MemoryReserve::mine = nullptr;

MemoryReserve::MemoryReserve() {
  for (std::unique_ptr<char[]>& part : parts_) {
    part.reset(new char[kPartBytes]);  // not make_unique, which would fill it with zeros
  }
  [[maybe_unused]] static const std::new_handler before = std::set_new_handler(LetGo);
  mine = this;
}

MemoryReserve::~MemoryReserve() { mine = nullptr; }

// Called by operator new, which retries when this returns: new.handler in the standard.
void MemoryReserve::LetGo() {
  if (mine != nullptr) {
    for (std::unique_ptr<char[]>& part : mine->parts_) {
      if (part) {
        part.reset();
        return;
      }
    }
  }
  throw std::bad_alloc();  // as without a handler
}

}  // namespace TURTLE_SERVER
