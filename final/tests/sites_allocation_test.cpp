// How often a cached file of a site calls the allocator, on the loop's thread.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "sites/sites.h"
#include "support/clocked_server.h"
#include "support/counting_new.h"
#include "support/http_client.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;

constexpr int kRequests = 1000;

auto Limited(std::uint32_t burst) -> SiteRule {
  SiteRule rule;
  rule.rate.emplace();
  rule.rate->requests = 1;
  rule.rate->burst = burst;
  return rule;
}

auto Site(const std::string& root) -> SiteOptions {
  SiteOptions site;
  site.names = {"*.example.org", "t"};
  site.root = root;
  site.error_pages = {{404, "", "No such turtle."}};
  site.rules.push_back(Limited(10 * kRequests));
  site.rules.back().deny = {"192.0.2.0/24"};
  site.rules.back().fields = {
      {FieldEdit::Kind::kSet, "Strict-Transport-Security", "max-age=31536000"},
      {FieldEdit::Kind::kAdd, "X-A-Rather-Long-Name", std::string(100, 'x')}};
  return site;
}

TEST(SitesAllocationTest, ACachedFileWithFieldsAndALimitAllocatesNothing) {
  const test::SiteFolder folder;
  folder.Write("page.html", std::string(3000, 'x'));
  Sites sites({Site(folder.Path())});
  test::ClockedServer server([&](Looper& looper, LoopHttp& http) {
    StaticFilesOptions options;
    options.cache.max_bytes = std::size_t{1} << 20;
    http.Mount("/", sites.Files(options)(looper));
  });
  HttpClient client(server.Port());
  const auto ask = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const test::HttpReply reply = client.Ask(Get("/page.html", "Accept: text/html\r\n"));
      ASSERT_EQ(reply.body.size(), 3000U);
      ASSERT_EQ(reply.Field("Strict-Transport-Security"), "max-age=31536000");
    }
  };
  ask(10);
  server.Loop().Ask([] { test::counts_allocations = true; });
  server.Loop().Ask([] { return std::string(100, 'x'); });  // is it counted at all?
  ASSERT_GT(test::allocations.exchange(0), 0U);
  ask(kRequests);
  EXPECT_EQ(test::allocations, 0U) << "in " << kRequests << " requests";
}

}  // namespace
}  // namespace TURTLE_SERVER
