// A response is cut where the end of the connection would be its end (HTTP/1.0): the client must
// not take the part for the whole.
#include <gtest/gtest.h>

#include <string>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::Waiting;

// Begins a response to `request`, followed by `extra` bytes, and breaks it off.
void CutAReply(RunningServer& server, const Waiting& waiting, HttpClient& client,
               const std::string& request, std::size_t extra) {
  ASSERT_TRUE(client.Send(request + std::string(extra, 'x')));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Ask([&] {
    waiting.Last()->BeginReply(Response(200).Set("Content-Type", "text/plain"));
    waiting.Last()->Write("half");
  });
  ASSERT_TRUE(client.HasInput(test::kPatience));
  server.Ask([&] { waiting.Last()->Abort(502, {}); });
}

TEST(ExchangeCut, AClientOf10SeesAResetHoweverMuchItHasSent) {
  for (const std::size_t extra : {std::size_t{0}, std::size_t{70'000}}) {
    Waiting waiting;
    RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
    HttpClient client(server.Port());
    CutAReply(server, waiting, client, "GET / HTTP/1.0\r\n\r\n", extra);
    client.ReadRest();
    EXPECT_TRUE(client.WasReset()) << "with " << extra << " bytes behind the request";
    EXPECT_FALSE(client.Ended());
  }
}

TEST(ExchangeCut, AClientOf11MissesTheLastChunk) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient client(server.Port());
  CutAReply(server, waiting, client, Get("/"), 0);
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "chunked");
  EXPECT_FALSE(reply.complete);
  EXPECT_TRUE(client.Ended()) << "the half that it has got need not be destroyed";
}

}  // namespace
}  // namespace TURTLE_SERVER
