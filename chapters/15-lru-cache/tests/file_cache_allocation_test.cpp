// How often a hit calls the allocator, on the loop's thread.
#include <gtest/gtest.h>

#include <string>

#include "support/cached_site.h"
#include "support/counting_new.h"

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
  site.Server().Loop().Ask([] { test::counts_allocations = true; });
  site.Server().Loop().Ask([] { return std::string(100, 'x'); });  // is it counted at all?
  ASSERT_GT(test::allocations.exchange(0), 0U);
  ask(1000);
  EXPECT_EQ(test::allocations, 0U) << "in 1000 requests";
}

}  // namespace
}  // namespace TURTLE_SERVER
