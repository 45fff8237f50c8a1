// Counts calls of operator new on the loop's thread: the reason why it is a program of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "support/cached_server.h"

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

TEST(ResponseCacheAllocationTest, AHitAllocatesNothing) {
  test::CachedServer server([](Exchange& exchange) {
    const bool varies = exchange.SubPath() == "/varies";
    Response response = TextResponse(200, std::string(3000, 'x')).Set("ETag", "\"tag\"");
    exchange.Reply(varies ? response.Set("Vary", "Accept, Accept-Language") : response);
  });
  test::HttpClient client(server.Port());
  const std::string fields =
      "User-Agent: a browser with a rather long name\r\nAccept: text/html,*/*;q=0.8\r\n"
      "Accept-Language: en\r\nAccept-Encoding: gzip\r\n";
  const auto ask = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(client.Ask(test::Get("/", fields)).body.size(), 3000U);
      ASSERT_EQ(client.Ask(test::Get("/varies?or=not", fields)).body.size(), 3000U);
      ASSERT_EQ(client.Ask(test::Get("/", fields + "If-None-Match: \"tag\"\r\n")).status, 304);
    }
  };
  ask(10);
  server.Server().Loop().Ask([] { counts = true; });
  server.Server().Loop().Ask([] { return std::string(100, 'x'); });  // is it counted at all?
  ASSERT_GT(allocations.exchange(0), 0U);
  ask(1000);
  EXPECT_EQ(allocations, 0U) << "in 3000 requests";
  EXPECT_EQ(server.Calls(), 2);
}

}  // namespace
}  // namespace TURTLE_SERVER
