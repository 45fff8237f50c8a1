// The memory of a recording that is given up before its response ends.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "support/cached_server.h"
#include "support/live_memory.h"

namespace TURTLE_SERVER {
namespace {

TEST(CachingHandlerMemoryTest, AResponseTooLongToBeKeptIsForgottenAtOnce) {
  constexpr std::ptrdiff_t kMost = 16'384;
  test::Waiting waiting;
  ResponseCacheOptions options;
  options.max_reply_bytes = kMost;
  test::CachedServer server([&waiting](Exchange& exchange) { waiting.Keep(exchange); }, options);
  test::LoopThread& loop = server.Server().Loop();
  test::HttpClient client(server.Port());
  client.Send(test::Get("/"));
  ASSERT_TRUE(loop.Await([&] { return waiting.Count() == 1; }));

  loop.Ask([&] {
    waiting.Last()->BeginReply(Response(200));
    waiting.Last()->Write(std::string(kMost, 'x'));
  });
  // By then the connection has sent the first piece, and needs no more memory for the second.
  const std::ptrdiff_t more = loop.Ask([&] {
    const std::ptrdiff_t before = test::live_bytes;
    waiting.Last()->Write("x");
    return test::live_bytes - before;
  });
  EXPECT_LE(more, -kMost / 2) << "the recording stays until the response ends";

  loop.Ask([&] { waiting.Last()->End(); });
  EXPECT_EQ(client.ReadReply().body.size(), std::size_t{kMost} + 1);
}

}  // namespace
}  // namespace TURTLE_SERVER
