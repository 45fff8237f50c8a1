// Pipelined requests of a client that does not read the responses wait in the client.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/read_scratch.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::RunningServer;

// Each time the client takes a response, the server serves a few more requests. If it read before
// it served, its input would grow by a whole read each time.
TEST(HttpSessionPipelinedInput, TheServerKeepsOneReadOfItAtMost) {
  constexpr int kReplies = 4;
  const std::string text(2 * Connection::kHighWater, 'x');  // one response fills the queue
  RunningServer server([&](Exchange& exchange) { exchange.Reply(TextResponse(200, text)); });
  HttpClient client(server.Port());
  ASSERT_EQ(client.Ask(Get("/")).status, 200);
  std::string requests;
  while (requests.size() < 4 * ReadScratch::kSize) {
    requests += Get("/");
  }
  server.Ask([&] {
    server.GetLooper().ForEachConnection([&](Connection* connection) {
      test::ShrinkSendBuffer(connection->GetFd());
      test::WidenReceiveBuffer(connection->GetFd());
    });
    EXPECT_TRUE(client.Send(requests));
  });
  std::size_t held = 0;
  const auto paused_again = [&] {
    bool paused = false;
    server.GetLooper().ForEachConnection([&](Connection* connection) {
      paused = connection->Paused();
      held = std::max(held, connection->Read().size());
    });
    return paused;
  };
  for (int i = 0; i < kReplies; ++i) {
    ASSERT_EQ(client.ReadReply().body.size(), text.size()) << "reply " << i;
    ASSERT_TRUE(server.Await(paused_again));
  }
  server.Ask([&] {
    EXPECT_GT(held, 0U) << "nothing has waited";
    EXPECT_LE(held, ReadScratch::kSize);
  });
  client.Reset();
}

}  // namespace
}  // namespace TURTLE_SERVER
