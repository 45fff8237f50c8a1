// Counting a request or a round allocates nothing.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "files/static_files.h"
#include "ops/server_figures.h"
#include "support/counting_new.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

TEST(OperationsAllocation, ACountedRequestAllocatesNothing) {
  const test::SiteFolder folder;
  folder.Write("index.html", "hello");
  std::optional<ServerFigures> figures;
  test::RunningServer server([&](HttpServer& http) {
    figures.emplace(http);
    http.Mount("/", [&](Looper& looper) {
      StaticFilesOptions files;
      files.root = folder.Path();
      files.cache.max_bytes = 100'000;
      auto handler = std::make_unique<StaticFiles>(looper, files);
      figures->AddCache("files", looper, handler->SharedCacheStats());
      return handler;
    });
  });
  test::HttpClient client(server.Port());
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(client.Ask(test::Get("/")).body, "hello");  // it is cached from here on
  }
  server.Ask([] { test::counts_allocations = true; });
  server.Ask([] { test::allocations = 0; });
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(client.Ask(test::Get("/")).body, "hello");
  }
  const std::size_t count = test::allocations;
  EXPECT_LE(count, 4U) << "beside what the last questions to the loop cost";
  server.Ask([] { test::counts_allocations = false; });
  EXPECT_EQ(figures->Read().loops.at(0).requests.statuses.at(0).count, 110U);
}

}  // namespace
}  // namespace TURTLE_SERVER
