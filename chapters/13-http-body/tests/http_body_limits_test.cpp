// Bodies that are too large, too slow, malformed, or endless.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "core/read_scratch.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/http_session.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::Waiting;

constexpr std::size_t kLarge = std::size_t{24} * 1024 * 1024;  // more than two sockets hold

void CountBytes(Exchange& exchange) {
  exchange.OnBody([&exchange, size = std::size_t{0}](std::string_view piece, bool last) mutable {
    size += piece.size();
    if (last) {
      exchange.Reply(TextResponse(200, std::to_string(size)));
    }
  });
}

auto ChunkedHead() -> std::string {
  return "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
}

auto LengthHead(std::size_t length) -> std::string {
  return "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

struct BadBody {
  const char* name;
  std::string body;
  int status;
};

class HttpBodyBadTest : public testing::TestWithParam<BadBody> {};

TEST_P(HttpBodyBadTest, IsAnsweredAndIsTheLast) {
  HttpOptions options;
  options.body.max_body_bytes = 20;
  options.body.max_trailer_bytes = 30;
  options.body.max_extension_bytes = 40;
  RunningServer server(CountBytes, options);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(ChunkedHead() + GetParam().body);
  EXPECT_EQ(reply.status, GetParam().status);
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(reply.Field("Connection"), "close");
  // Neither the rest of the body nor a seeming request is answered, and nothing is reset.
  EXPECT_TRUE(client.Send(std::string(200'000, 'x') + test::Get("/")));
  EXPECT_TRUE(client.IsClosedByServer());
}

INSTANTIATE_TEST_SUITE_P(
    All, HttpBodyBadTest,
    testing::Values(BadBody{"Size", "zz\r\nhello\r\n0\r\n\r\n", 400},
                    BadBody{"BareLineFeed", "5\nhello\r\n0\r\n\r\n", 400},
                    BadBody{"LongerThanItsSize", "5\r\nhello!\r\n0\r\n\r\n", 400},
                    BadBody{"HugeSize", "fffffffffffffffff\r\n", 400},
                    BadBody{"FoldedTrailer", "0\r\nA: b\r\n c\r\n\r\n", 400},
                    BadBody{"Extensions", "5;" + std::string(100, 'x') + "\r\nhello\r\n", 400},
                    BadBody{"OneChunkTooMany", "14\r\n01234567890123456789\r\n1\r\nx\r\n", 413},
                    BadBody{"OneChunkTooLarge", "15\r\n", 413},
                    BadBody{"Trailers", "0\r\nA: " + std::string(50, 'x') + "\r\n\r\n", 431}),
    [](const auto& bad) { return bad.param.name; });

TEST(HttpBodyLimits, A413NamesTheLimitAndItsUnit) {
  HttpOptions options;
  options.body.max_body_bytes = 64;
  RunningServer server(CountBytes, options);
  for (const std::string& begun : {LengthHead(65), ChunkedHead() + "41\r\n"}) {
    const HttpReply reply = HttpClient(server.Port()).Ask(begun);
    EXPECT_EQ(reply.status, 413);
    EXPECT_NE(reply.body.find("more than 64 bytes"), std::string::npos) << reply.body;
  }
}

TEST(HttpBodyLimits, ABodyThatStopsComingIs408) {
  HttpOptions options;
  options.body_timeout = std::chrono::milliseconds(50);
  RunningServer server(CountBytes, options);
  for (const std::string& begun : {LengthHead(5) + "hel", ChunkedHead() + "5\r\nhel", LengthHead(5),
                                   ChunkedHead() + "0\r\n"}) {
    HttpClient client(server.Port());
    const HttpReply reply = client.Ask(begun);
    EXPECT_EQ(reply.status, 408);
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_TRUE(client.IsClosedByServer());
  }
}

TEST(HttpBodyLimits, NobodyWaitsForEverForWhatIsToBeDropped) {
  HttpOptions options;
  options.body_timeout = std::chrono::milliseconds(50);
  RunningServer server([](Exchange& exchange) { exchange.Reply(TextResponse(200, "ignored")); },
                       options);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(LengthHead(5) + "hel");
  EXPECT_EQ(reply.body, "ignored");
  EXPECT_EQ(reply.Field("Connection"), "");
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(HttpBodyLimits, ABodyWhoseSenderGoesEndsTheExchange) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) {
    waiting.Keep(exchange);
    exchange.OnBody([](std::string_view, bool last) { EXPECT_FALSE(last); });
  });
  HttpClient finishes(server.Port());
  ASSERT_TRUE(finishes.Send(LengthHead(5) + "hel"));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  finishes.FinishSending();
  EXPECT_TRUE(server.Await([&] { return waiting.Ended() == 1; }));
  EXPECT_TRUE(finishes.IsClosedByServer());
  HttpClient breaks(server.Port());
  ASSERT_TRUE(breaks.Send(ChunkedHead() + "5\r\nhel"));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  breaks.Reset();
  EXPECT_TRUE(server.Await([&] { return waiting.Ended() == 2; }));
}

TEST(HttpBodyLimits, AHeldBodyWaitsInTheClient) {
  HttpOptions options;
  options.body.max_body_bytes = kLarge;
  Waiting waiting;
  std::size_t brought = 0;  // the loop's
  RunningServer server(
      [&](Exchange& exchange) {
        waiting.Keep(exchange);
        exchange.OnBody([&](std::string_view piece, bool last) {
          if (brought == 0) {
            exchange.HoldBody(true);
          }
          brought += piece.size();
          if (last) {
            exchange.Reply(TextResponse(200, std::to_string(brought)));
          }
        });
      },
      options);
  HttpClient client(server.Port());
  std::thread sender([&] {
    EXPECT_TRUE(client.Send(LengthHead(kLarge)));
    EXPECT_TRUE(client.Send(std::string(kLarge, 'x')));
  });
  EXPECT_TRUE(server.Await([&] { return brought != 0; }));
  for (int i = 0; i < 100; ++i) {
    server.Settle();
  }
  server.Ask([&] {
    EXPECT_LE(brought, std::size_t{64} * 1024);
    server.GetLooper().ForEachConnection([](Connection* connection) {
      EXPECT_LE(connection->Read().size(), std::size_t{128} * 1024);
    });
    ASSERT_NE(waiting.Last(), nullptr);
    waiting.Last()->HoldBody(false);
  });
  EXPECT_EQ(client.ReadReply().body, std::to_string(kLarge));
  sender.join();
}

// Uploads that come as fast as they can are served in turns, not to their end. However much is in
// the socket, a round reads it at most twice: once for the rest of a body, once for the next
// request.
TEST(HttpBodyLimits, AnUploaderDoesNotStarveItsNeighbours) {
  constexpr std::size_t kUploads = 2000;
  const std::string upload = LengthHead(1000) + std::string(1000, 'x');
  std::map<TimePoint, std::size_t> handled;  // by round, the loop's
  RunningServer server([&](Exchange& exchange) {
    ++handled[exchange.GetLooper().Now()];
    CountBytes(exchange);
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(upload).body, "1000");
  std::thread sender([&] {
    std::string uploads;
    for (std::size_t i = 0; i < kUploads; ++i) {
      uploads += upload;
    }
    EXPECT_TRUE(client.Send(uploads));
  });
  server.Ask([&] {  // the loop stands still while the socket fills
    server.GetLooper().ForEachConnection([](Connection* connection) {
      test::WidenReceiveBuffer(connection->GetFd());
      EXPECT_TRUE(test::AwaitBytes(connection->GetFd(), 180'000));
    });
  });
  for (std::size_t i = 0; i < kUploads; ++i) {
    ASSERT_EQ(client.ReadReply().body, "1000") << i;
  }
  sender.join();
  server.Ask([&] {
    for (const auto& [round, count] : handled) {
      EXPECT_LE(count * upload.size(), 2 * ReadScratch::kSize + 2 * upload.size());
    }
  });
}

}  // namespace
}  // namespace TURTLE_SERVER
