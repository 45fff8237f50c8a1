// Bodies that nobody wanted: read and dropped, waited for, or a reason to close.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::kPatience;
using test::RunningServer;

auto PostHead(std::size_t length) -> std::string {
  return "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

void RefusePosts(Exchange& exchange) {
  if (exchange.GetRequest().method == Method::kPost) {
    exchange.Reply(ErrorResponse(405).Set("Allow", "GET"));
  } else {
    exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
  }
}

TEST(HttpBodyDropped, OneThatNeverBeginsIsNotWaitedForForEver) {
  HttpOptions options;
  options.body_timeout = milliseconds(50);  // the others are a minute, and longer than this waits
  RunningServer server(RefusePosts, options);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(PostHead(10));
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.Field("Connection"), "") << "ten bytes are worth waiting for";
  EXPECT_TRUE(client.IsClosedByServer());
  EXPECT_FALSE(client.WasReset());
}

TEST(HttpBodyDropped, OneThatComesIsNotTheNextRequest) {
  RunningServer server(RefusePosts);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(PostHead(10)).status, 405);
  ASSERT_TRUE(client.Send("GET / HT"));
  server.Settle();
  EXPECT_EQ(client.Ask("TP" + Get("/next")).body, "/next");
}

constexpr std::string_view kChunkedHead =
    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(HttpBodyDropped, ChunksAreNotTheNextRequest) {
  const std::string body = "5;a=\"b\"\r\nhello\r\n3\r\nyou\r\n0\r\nTrailer: x\r\n\r\n";
  RunningServer server(RefusePosts);
  for (std::size_t cut = 0; cut <= body.size(); ++cut) {
    HttpClient client(server.Port());
    const HttpReply reply = client.Ask(std::string(kChunkedHead) + body.substr(0, cut));
    EXPECT_EQ(reply.status, 405);
    EXPECT_EQ(reply.Field("Connection"), "") << cut;
    EXPECT_EQ(client.Ask(body.substr(cut) + Get("/next")).body, "/next") << cut;
  }
}

TEST(HttpBodyDropped, MalformedChunksAreTheLast) {
  RunningServer server(RefusePosts);
  for (const std::string body :
       {"x\r\nhello\r\n0\r\n\r\n", "+5\r\nhello\r\n0\r\n\r\n", "4\r\nhello\r\n0\r\n\r\n",
        "10000000000000000\r\nhello", "ffffffffffffffff\r\nhello", "0\r\nx\r\n\r\n"}) {
    HttpClient whole(server.Port());
    const HttpReply reply = whole.Ask(std::string(kChunkedHead) + body + Get("/next"));
    EXPECT_EQ(reply.status, 405);
    EXPECT_EQ(reply.Field("Connection"), "close") << body;
    EXPECT_TRUE(whole.IsClosedByServer()) << body;
    HttpClient later(server.Port());
    EXPECT_EQ(later.Ask(std::string(kChunkedHead)).status, 405);
    ASSERT_TRUE(later.Send(body + Get("/next")));
    EXPECT_TRUE(later.IsClosedByServer()) << body;
  }
}

TEST(HttpBodyDropped, ChunksWithoutEndAreTheLast) {
  HttpOptions options;
  options.max_dropped_bytes = 100;
  RunningServer server(RefusePosts, options);
  HttpClient whole(server.Port());
  const HttpReply reply =
      whole.Ask(std::string(kChunkedHead) + "60\r\n" + std::string(0x60, 'x') + "\r\n1\r\n");
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(whole.IsClosedByServer());
  HttpClient later(server.Port());
  EXPECT_EQ(later.Ask(std::string(kChunkedHead)).Field("Connection"), "");
  ASSERT_TRUE(later.Send("60\r\n" + std::string(0x60, 'x') + "\r\n1\r\n"));
  EXPECT_TRUE(later.IsClosedByServer());
}

// However short the body is, it is not read if it is longer than the server allows.
TEST(HttpBodyDropped, OneThatIsTooLargeIsTheLast) {
  HttpOptions options;
  options.body.max_body_bytes = 100;
  ASSERT_GT(options.max_dropped_bytes, 101U);
  RunningServer server(
      [](Exchange& exchange) {
        exchange.OnBody([&exchange](std::string_view, bool last) {
          if (last) {
            exchange.Reply(TextResponse(200, "taken"));
          }
        });
      },
      options);
  HttpClient fits(server.Port());
  EXPECT_EQ(fits.Ask(PostHead(100) + std::string(100, 'x')).body, "taken");
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(PostHead(101) + std::string(101, 'x') + Get("/next"));
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer()) << "what follows is not answered";
}

// Some clients end the body of a POST by a line end that they do not count.
TEST(HttpBodyDropped, TheLineEndBehindItDoesNotBeginARequest) {
  HttpOptions options;
  options.head_timeout = milliseconds(30);
  RunningServer server(RefusePosts, options);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(PostHead(4) + "body\r\n").status, 405);
  std::promise<void> over;
  server.Ask(
      [&] { server.GetLooper().RunAfter(2 * options.head_timeout, [&] { over.set_value(); }); });
  ASSERT_EQ(over.get_future().wait_for(kPatience), std::future_status::ready);
  server.Settle();
  EXPECT_FALSE(client.HasInput(milliseconds(0))) << client.ReadReply().head;
  EXPECT_EQ(client.Ask(Get("/next")).body, "/next");
}

}  // namespace
}  // namespace TURTLE_SERVER
