// How often a hit calls the allocator, on the loop's thread.
#include <gtest/gtest.h>

#include <string>

#include "support/cached_server.h"
#include "support/counting_new.h"

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
  server.Server().Loop().Ask([] { test::counts_allocations = true; });
  server.Server().Loop().Ask([] { return std::string(100, 'x'); });  // is it counted at all?
  ASSERT_GT(test::allocations.exchange(0), 0U);
  ask(1000);
  EXPECT_EQ(test::allocations, 0U) << "in 3000 requests";
  EXPECT_EQ(server.Calls(), 2);
}

}  // namespace
}  // namespace TURTLE_SERVER
