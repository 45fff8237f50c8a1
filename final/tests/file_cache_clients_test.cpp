// The cache with slow clients, and with files that change while they are served.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "support/cached_site.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::CachedSite;
using test::Get;
using test::HttpClient;
using test::HttpReply;

constexpr std::size_t kLarge = std::size_t{24} * 1024 * 1024;  // more than two sockets hold

// The parameter: how long a file may be to be kept in memory; a longer one is kept open.
class FileCacheSlowClientTest : public testing::TestWithParam<std::size_t> {};

TEST_P(FileCacheSlowClientTest, GetsThePageThatItAskedFor) {
  FileCacheOptions options = CachedSite::Watching();
  options.max_copied_bytes = GetParam();
  CachedSite site(options);
  const std::string old(kLarge, 'o');
  site.Write("page", old);
  ASSERT_TRUE(site.AwaitHit("/page"));
  HttpClient slow(site.Server().Port());
  ASSERT_TRUE(slow.Send(Get("/page")));
  ASSERT_TRUE(site.Server().Loop().Await([&] {
    bool waits = false;
    site.Server().Loop().Get().ForEachConnection(
        [&](Connection* connection) { waits = waits || connection->UnsentBytes() != 0; });
    return waits;
  }));
  site.Write("next", "new");
  std::filesystem::rename(site.Path("next"), site.Path("page"));
  EXPECT_EQ(site.Ask("/page").body, "new");
  EXPECT_LT(site.Stats().bytes, old.size()) << "the old one is still kept";
  const HttpReply reply = slow.ReadReply();
  EXPECT_TRUE(reply.complete);
  EXPECT_TRUE(reply.body == old) << "the memory, or the descriptor, was given to somebody else";
}

INSTANTIATE_TEST_SUITE_P(Files, FileCacheSlowClientTest, testing::Values(kLarge, 0));

// Two complete contents of different lengths are swapped as fast as possible. Every response is one
// of them, and the last one is certain.
TEST(FileCacheClientsTest, EveryReplyIsAWholePage) {
  const std::string contents[] = {std::string(1000, 'a'), std::string(40'000, 'b')};
  const test::SiteFolder folder;
  folder.Write("page", contents[0]);
  test::RunningServer server(
      [&](HttpServer& http) {
        http.Mount("/", [&](Looper& looper) {
          StaticFilesOptions options;
          options.root = folder.Path();
          options.cache.max_bytes = 1'000'000;
          return std::make_unique<StaticFiles>(looper, options);
        });
      },
      HttpOptions(), 2);
  std::atomic<bool> enough{false};
  std::thread editor([&] {
    for (int i = 0; !enough; ++i) {
      folder.Write("next", contents[i % 2]);
      std::filesystem::rename(folder.Path("next"), folder.Path("page"));
    }
  });
  HttpClient clients[] = {HttpClient(server.Port()), HttpClient(server.Port())};
  int wrong = 0;
  for (int i = 0; i < 500; ++i) {
    for (HttpClient& client : clients) {
      const HttpReply reply = client.Ask(Get("/page"));
      wrong += reply.complete && (reply.body == contents[0] || reply.body == contents[1]) ? 0 : 1;
    }
  }
  enough = true;
  editor.join();
  EXPECT_EQ(wrong, 0);
  for (const std::string& content : contents) {
    folder.Write("next", content);
    std::filesystem::rename(folder.Path("next"), folder.Path("page"));
    for (HttpClient& client : clients) {
      EXPECT_TRUE(client.Ask(Get("/page")).body == content);
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
