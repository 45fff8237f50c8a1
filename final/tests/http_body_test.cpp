// Bodies over the wire: whole, in pieces, expected, unwanted.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/http_session.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::Waiting;

// Responds with the body.
void Collect(Exchange& exchange) {
  exchange.OnBody([&exchange, text = std::string()](std::string_view piece, bool last) mutable {
    text += piece;
    if (last) {
      exchange.Reply(TextResponse(200, text));
    }
  });
}

void Ignore(Exchange& exchange) { exchange.Reply(TextResponse(200, "ignored")); }

auto Post(std::string_view body, std::string_view fields = {}) -> std::string {
  std::string request = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: ";
  return request.append(std::to_string(body.size()))
      .append("\r\n")
      .append(fields)
      .append("\r\n")
      .append(body);
}

auto PostChunks(std::string_view chunks, std::string_view fields = {}) -> std::string {
  std::string request = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n";
  return request.append(fields).append("\r\n").append(chunks);
}

constexpr const char* kChunks = "5\r\nhello\r\n7;note=\"x\"\r\n, world\r\n0\r\nDigest: x\r\n\r\n";

TEST(HttpBody, LineEndsAtItsFrontBelongToItHoweverLateItIsAskedFor) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Post("\r\n\r\nx")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Ask([&] { Collect(*waiting.Last()); });
  EXPECT_EQ(client.ReadReply().body, "\r\n\r\nx");
}

TEST(HttpBody, BothWaysToMarkItsEnd) {
  RunningServer server(Collect);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Post("hello, world")).body, "hello, world");
  EXPECT_EQ(client.Ask(PostChunks(kChunks)).body, "hello, world");
  const std::string large(500'000, 'x');
  EXPECT_TRUE(client.Ask(Post(large)).body == large);
  EXPECT_EQ(client.Ask(PostChunks("0\r\n\r\n")).body, "");
}

TEST(HttpBody, MayBeCutAnywhere) {
  RunningServer server(Collect);
  HttpClient client(server.Port());
  for (const std::string& request : {Post("hello, world"), PostChunks(kChunks)}) {
    for (std::size_t at = 1; at < request.size(); ++at) {
      ASSERT_TRUE(client.Send(std::string_view(request).substr(0, at)));
      server.Settle();
      ASSERT_EQ(client.Ask(std::string_view(request).substr(at)).body, "hello, world") << at;
    }
  }
}

TEST(HttpBody, RequestsBehindABodyAreAnsweredInOrder) {
  RunningServer server(Collect);
  HttpClient client(server.Port());
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += Post(std::to_string(i)) + Get("/") + PostChunks(kChunks);
  }
  ASSERT_TRUE(client.Send(requests));
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(client.ReadReply().body, std::to_string(i));
    const HttpReply empty = client.ReadReply();
    ASSERT_EQ(empty.status, 200);
    ASSERT_EQ(empty.body, "");
    ASSERT_EQ(client.ReadReply().body, "hello, world");
  }
}

TEST(HttpBody, ARequestWithoutOneBringsOneEmptyPiece) {
  RunningServer server(Collect);
  HttpClient client(server.Port());
  for (const std::string& request : {Get("/"), Post("")}) {
    const HttpReply reply = client.Ask(request);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "");
  }
  EXPECT_EQ(client.Ask(Post("more")).body, "more");
}

TEST(HttpBody, LeaveIsGivenBeforeTheBodyAndOnlyOnce) {
  RunningServer server(Collect);
  HttpClient client(server.Port());
  for (int i = 0; i < 2; ++i) {
    const HttpReply interim = client.Ask(
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(interim.head, "HTTP/1.1 100 Continue\r\n\r\n");
    ASSERT_TRUE(client.Send("he"));
    server.Settle();
    EXPECT_EQ(client.Ask("llo").body, "hello");
  }
  EXPECT_EQ(client.Ask(Get("/")).status, 200);
}

// A line that says "100" would be taken for a part of the response.
TEST(HttpBody, NoLeaveIsGivenOnceTheReplyHasBegun) {
  RunningServer server([](Exchange& exchange) {
    exchange.BeginReply(Response(200));
    exchange.OnBody([&exchange](std::string_view piece, bool last) {
      exchange.Write(piece);
      if (last) {
        exchange.End();
      }
    });
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(
      "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
  server.Settle();
  const HttpReply reply = client.Ask("hello");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "hello");
  EXPECT_TRUE(reply.complete);
}

TEST(HttpBody, WhoDoesNotWaitForLeaveNeedsNone) {
  RunningServer server(Collect);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Post("hello", "Expect: 100-continue\r\n")).status, 200);
  EXPECT_EQ(client.Ask(Post("", "Expect: 100-continue\r\n")).status, 200);
  // An HTTP/1.0 client would take an interim response for the final one.
  ASSERT_TRUE(client.Send("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
  server.Settle();
  EXPECT_EQ(client.Ask("hello").status, 200);
}

TEST(HttpBody, TheHeadMayDecideBeforeLeaveIsGiven) {
  HttpOptions options;
  options.body.max_body_bytes = 1000;
  RunningServer server(
      [](HttpServer& http) {
        http.Mount("/upload", test::Answering(Collect));
        http.Mount("/fixed", test::Answering([](Exchange& exchange) {
                     exchange.Reply(ErrorResponse(405).Set("Allow", "GET"));
                   }));
      },
      options);
  const auto status = [&](const std::string& target, const std::string& fields) {
    HttpClient client(server.Port());
    const HttpReply reply =
        client.Ask("POST " + target + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n");
    EXPECT_EQ(reply.Field("Connection"), "close") << target;
    EXPECT_TRUE(client.IsClosedByServer()) << target;
    return reply.status;
  };
  const std::string expect = "Expect: 100-continue\r\n";
  EXPECT_EQ(status("/nowhere", "Content-Length: 5\r\n" + expect), 404);
  EXPECT_EQ(status("/fixed", "Content-Length: 5\r\n" + expect), 405);
  EXPECT_EQ(status("/fixed", "Transfer-Encoding: chunked\r\n" + expect), 405);
  EXPECT_EQ(status("/upload", "Content-Length: 1001\r\n" + expect), 413);
  EXPECT_EQ(status("/upload", "Content-Length: 1001\r\n"), 413);
  EXPECT_EQ(status("/upload", "Content-Length: 5\r\nExpect: 200-ok\r\n"), 417);
}

TEST(HttpBody, AHandlerMayAskForItLater) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(
      "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Settle();
  EXPECT_FALSE(client.HasInput(std::chrono::milliseconds(0)));
  server.Ask([&] { Collect(*waiting.Last()); });
  EXPECT_EQ(client.ReadReply().status, 100);
  EXPECT_EQ(client.Ask("hello").body, "hello");
}

TEST(HttpBody, AShortOneThatNobodyWantsIsDropped) {
  RunningServer server(Ignore);
  HttpClient client(server.Port());
  const std::string request = Post(Get("/smuggled"));
  for (std::size_t at : {request.size(), request.size() - 10, request.size() - 1}) {
    ASSERT_TRUE(client.Send(request.substr(0, at)));
    const HttpReply reply = client.ReadReply();  // it does not wait for the body
    EXPECT_EQ(reply.body, "ignored");
    EXPECT_EQ(reply.Field("Connection"), "");
    ASSERT_TRUE(client.Send(request.substr(at)));
  }
  EXPECT_EQ(client.Ask(Get("/")).status, 200);
  EXPECT_FALSE(client.HasInput(std::chrono::milliseconds(0)));
}

TEST(HttpBody, ALongOneThatNobodyWantsCostsTheConnectionAndNotTheReply) {
  RunningServer server(Ignore);
  for (const std::string& request :
       {Post(std::string(500'000, 'x')), PostChunks("7a120\r\n" + std::string(500'000, 'x'))}) {
    HttpClient client(server.Port());
    const HttpReply reply = client.Ask(request);
    EXPECT_EQ(reply.body, "ignored");
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_TRUE(client.Send(std::string(500'000, 'x')));
    EXPECT_TRUE(client.IsClosedByServer());
    EXPECT_FALSE(client.WasReset());
  }
}

TEST(HttpBody, TheReplyMayComeInTheMiddle) {
  RunningServer server([](Exchange& exchange) {
    exchange.OnBody([&exchange](std::string_view piece, bool) {
      if (!exchange.Replied()) {
        exchange.Reply(TextResponse(200, piece.substr(0, 2)));
      }
    });
  });
  HttpClient client(server.Port());
  const std::string request = Post("hello, world");
  ASSERT_TRUE(client.Send(request.substr(0, request.size() - 5)));
  EXPECT_EQ(client.ReadReply().body, "he");
  EXPECT_EQ(client.Ask("world" + Post("again")).body, "ag");
}

TEST(HttpBody, ACallbackThatThrowsCostsOneAnswer) {
  const test::CapturedStderr captured;
  RunningServer server([](Exchange& exchange) {
    exchange.OnBody([](std::string_view piece, bool) {
      if (!piece.empty()) {
        throw std::runtime_error("disk full");
      }
    });
  });
  HttpClient client(server.Port());
  const std::string request = Post("hello");
  ASSERT_TRUE(client.Send(request.substr(0, request.size() - 1)));
  EXPECT_EQ(client.ReadReply().status, 500);
  EXPECT_EQ(client.Ask(request.substr(request.size() - 1) + Post("x")).status, 500);
  EXPECT_NE(captured.Text().find("disk full"), std::string::npos);
}

}  // namespace
}  // namespace TURTLE_SERVER
