// Counts calls of operator new on the loop's thread: the reason why it is a program of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "support/cached_site.h"

namespace {

std::atomic<std::size_t> allocations{0};
thread_local bool counts = false;

}  // namespace

auto operator new(std::size_t size) -> void* {
  allocations += counts ? 1 : 0;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}

auto operator new(std::size_t size, const std::nothrow_t&) noexcept -> void* {
  allocations += counts ? 1 : 0;
  return std::malloc(size == 0 ? 1 : size);
}

// gcc takes the inlined free(3) for a mismatch with the operator above, which it does not inline.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace TURTLE_SERVER {
namespace {

TEST(FileCacheAllocationTest, AHitAllocatesNothing) {
  test::CachedSite site;
  site.Write("page.html", std::string(3000, 'x'));
  ASSERT_TRUE(site.AwaitHit("/page.html"));
  const std::string fields =
      "User-Agent: a browser with a rather long name\r\nAccept: text/html,*/*;q=0.8\r\n"
      "Accept-Language: en\r\nAccept-Encoding: gzip\r\nCookie: a=1; b=2\r\n";
  const auto ask = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(site.Ask("/page.html", fields).body.size(), 3000U);
    }
  };
  ask(10);
  site.Server().Loop().Ask([] { counts = true; });
  site.Server().Loop().Ask([] { return std::string(100, 'x'); });  // is it counted at all?
  ASSERT_GT(allocations.exchange(0), 0U);
  ask(1000);
  EXPECT_EQ(allocations, 0U) << "in 1000 requests";
}

}  // namespace
}  // namespace TURTLE_SERVER
