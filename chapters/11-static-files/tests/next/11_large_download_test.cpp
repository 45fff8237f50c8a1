// A file that is sent must not be loaded into the server's memory on its way.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "support/static_site.h"

namespace TURTLE_SERVER {
namespace {

// The bytes that operator new has given to the counting threads. Initially none counts.
std::atomic<std::size_t> allocated_bytes{0};
thread_local bool counts_bytes = false;

auto CountedAllocate(std::size_t size) noexcept -> void* {
  if (counts_bytes) {
    allocated_bytes += size;
  }
  return std::malloc(size == 0 ? 1 : size);
}

constexpr std::size_t kFileBytes = std::size_t{32} * 1024 * 1024;
constexpr std::size_t kEnough = std::size_t{1024} * 1024;

TEST(LargeDownload, TakesLittleMemory) {
  test::StaticSite site;
  site.Folder().Write("film.bin", "");
  std::filesystem::resize_file(site.Folder().Path("film.bin"), kFileBytes);
  site.Server().Ask([] { counts_bytes = true; });
  for (const char* range : {"", "Range: bytes=1-\r\n"}) {
    allocated_bytes = 0;
    const test::HttpReply reply = site.Ask("/film.bin", range);
    EXPECT_TRUE(reply.complete);
    EXPECT_EQ(reply.body.size(), kFileBytes - (*range == '\0' ? 0 : 1));
    EXPECT_LT(allocated_bytes, kEnough);
  }
  site.Server().Ask([] { counts_bytes = false; });
}

}  // namespace
}  // namespace TURTLE_SERVER

auto operator new(std::size_t size, const std::nothrow_t&) noexcept -> void* {
  return TURTLE_SERVER::CountedAllocate(size);
}

auto operator new(std::size_t size) -> void* {
  if (void* memory = TURTLE_SERVER::CountedAllocate(size)) {
    return memory;
  }
  throw std::bad_alloc();
}

// gcc takes the inlined free(3) for a mismatch with the operator above, which it does not inline.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
