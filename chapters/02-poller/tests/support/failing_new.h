// Memory that runs out when a test says so. It replaces operator new of the whole program, so a
// test that includes this is its own program.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace TURTLE_SERVER::test {

/// One thread's allocations, and which of them fail.
struct FailingNew {
  std::size_t pass = 0;    ///< how many succeed before
  std::size_t fail = 0;    ///< how many then fail; each counts this down
  std::size_t failed = 0;  ///< how many have failed so far
};

/// The initial state of each thread that starts from now on. Change it only while no thread starts.
inline FailingNew failing_from_birth;

/// The allocations of the calling thread.
inline thread_local FailingNew failing_new = failing_from_birth;

/// Makes `count` allocations of the calling thread fail, beginning with number `first`, counted
/// from 1.
inline void FailAllocations(std::size_t first, std::size_t count = 1) noexcept {
  failing_new = {first - 1, count, 0};
}

/// Lets all allocations succeed from here on. @return how many have failed.
inline auto StopFailing() noexcept -> std::size_t {
  const std::size_t failed = failing_new.failed;
  failing_new = {};
  return failed;
}

inline auto Allocate(std::size_t size) noexcept -> void* {
  FailingNew& here = failing_new;
  if (here.fail != 0) {
    if (here.pass == 0) {
      --here.fail;
      ++here.failed;
      return nullptr;
    }
    --here.pass;
  }
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace TURTLE_SERVER::test

auto operator new(std::size_t size, const std::nothrow_t&) noexcept -> void* {
  return TURTLE_SERVER::test::Allocate(size);
}

auto operator new(std::size_t size) -> void* {
  for (;;) {
    if (void* memory = TURTLE_SERVER::test::Allocate(size)) {
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) {
      throw std::bad_alloc();
    }
    handler();
  }
}

// gcc takes the inlined free(3) for a mismatch with the operator above, which it does not inline.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
