// A loop that has a thread begins without memory: what it takes was had before, where a refusal is
// still a refusal. Replaces operator new, which is why it is a program of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>

#include "core/turtle_server.h"
#include "support/captured_stderr.h"
#include "support/handlers.h"

namespace {

// There is no memory for other threads than the one that says so.
std::atomic<bool> others_fail{false};
thread_local bool is_exempt = false;

auto Allocate(std::size_t size) noexcept -> void* {
  return others_fail && !is_exempt ? nullptr : std::malloc(size == 0 ? 1 : size);
}

}  // namespace

auto operator new(std::size_t size, const std::nothrow_t&) noexcept -> void* {
  return Allocate(size);
}

auto operator new(std::size_t size) -> void* {
  if (void* memory = Allocate(size)) {
    return memory;
  }
  throw std::bad_alloc();
}

// gcc takes the inlined free(3) for a mismatch with the operator above, which it does not inline.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace TURTLE_SERVER {
namespace {

TEST(TurtleServerMemory, EveryLoopBeginsWithoutMemoryForItsThread) {
  const test::CapturedStderr errors;
  ServerOptions options;
  options.threads = 3;
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  server.OnHandle(test::Echo);
  Looper& first = *server.Loopers().front();
  bool was_ready = false;
  const std::function<void()> look = [&] {
    was_ready = server.IsReady();
    if (was_ready) {
      others_fail = false;
      server.Stop();
    } else {
      first.RunAfter(std::chrono::milliseconds(1), look);
    }
  };
  first.RunAfter(std::chrono::milliseconds(0), look);
  first.RunAfter(std::chrono::seconds(20), [&] { server.Stop(); });
  is_exempt = true;
  others_fail = true;
  server.Begin();
  others_fail = false;
  EXPECT_TRUE(was_ready) << "a loop did not begin: " << errors.Text();
  EXPECT_EQ(errors.Text(), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
