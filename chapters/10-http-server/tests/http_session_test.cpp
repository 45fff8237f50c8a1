// Requests in, responses out, in order: what one connection may expect of a server.
#include "web/http_session.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::Waiting;

void ReplyWithPath(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
}

struct VersionCase {
  const char* request;
  const char* connection_field;  // of the response
  bool kept;
};

class HttpSessionVersionTest : public testing::TestWithParam<VersionCase> {};

TEST_P(HttpSessionVersionTest, KeepsTheConnectionByVersionAndField) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(GetParam().request);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "/a");
  EXPECT_EQ(reply.Field("Connection"), GetParam().connection_field);
  if (GetParam().kept) {
    EXPECT_EQ(client.Ask(Get("/b")).body, "/b");
  } else {
    EXPECT_TRUE(client.IsClosedByServer());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, HttpSessionVersionTest,
    testing::Values(
        VersionCase{"GET /a HTTP/1.1\r\nHost: t\r\n\r\n", "", true},
        VersionCase{"GET /a HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", "close", false},
        VersionCase{"GET /a HTTP/1.0\r\n\r\n", "close", false},
        VersionCase{"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", true},
        VersionCase{"GET /a HTTP/1.2\r\nHost: t\r\n\r\n", "", true}));

TEST(HttpSession, ASecondReplyIsRefusedAndTheFirstStays) {
  const test::CapturedStderr log;
  RunningServer server([](Exchange& exchange) {
    exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
    exchange.Reply(TextResponse(200, "again"));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/a")).body, "/a");
  EXPECT_EQ(client.Ask(Get("/b")).body, "/b") << "on the same connection";
  EXPECT_NE(log.Text().find("a handler has replied twice to one request"), std::string::npos)
      << log.Text();
}

TEST(HttpSession, RepliesToPipelinedRequestsInOrderAndTogether) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  constexpr int kRequests = 100;
  std::string requests;
  for (int i = 0; i < kRequests; ++i) {
    requests += Get("/" + std::to_string(i));
  }
  ASSERT_TRUE(client.Send(requests));
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(client.ReadReply().body, "/" + std::to_string(i));
  }
#ifdef __linux__
  EXPECT_LE(client.SegmentsReceived(), 5U) << "the replies to one read leave by one send";
#endif
}

TEST(HttpSession, ARequestMayBeCutAnywhere) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  const std::string request = Get("/cut", "Accept: */*\r\n");
  for (std::size_t at = 1; at < request.size(); ++at) {
    ASSERT_TRUE(client.Send(std::string_view(request).substr(0, at)));
    server.Settle();
    const HttpReply reply = client.Ask(std::string_view(request).substr(at));
    ASSERT_EQ(reply.status, 200) << "cut at " << at;
    ASSERT_EQ(reply.body, "/cut") << "cut at " << at;
  }
}

// Old clients end a body by a line end that they do not count (RFC 9112, section 2.2).
TEST(HttpSession, LineEndsBetweenRequestsAreNothing) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask("\r\n" + Get("/1") + "\r\n\r\n").body, "/1");
  ASSERT_TRUE(client.Send("\r"));
  server.Settle();
  EXPECT_EQ(client.Ask("\n" + Get("/2")).body, "/2");
}

TEST(HttpSession, ALateReplyHoldsBackThoseBehindIt) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) {
    exchange.GetRequest().uri.Path() == "/late" ? waiting.Keep(exchange) : ReplyWithPath(exchange);
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/1") + Get("/late") + Get("/2") + Get("/late") + Get("/3")));
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
    EXPECT_EQ(client.ReadReply().body, "/" + std::to_string(round + 1));
    // From a timer, as if a handler had waited for something.
    server.Ask([&] {
      server.GetLooper().RunAfter(std::chrono::milliseconds(1),
                                  [&] { ReplyWithPath(*waiting.Last()); });
    });
    EXPECT_EQ(client.ReadReply().body, "/late");
  }
  EXPECT_EQ(client.ReadReply().body, "/3");
}

TEST(HttpSession, ALateHandlerStillSeesTheRequest) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/path?query", "X-Field: value\r\n") + std::string(5000, 'x')));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Ask([&] {
    Exchange& exchange = *waiting.Last();
    const Request& request = exchange.GetRequest();
    std::string seen(request.uri.Path());
    seen.append(" ").append(request.uri.Query()).append(" ");
    seen += request.headers.Find("x-field").value_or("none");
    exchange.Reply(TextResponse(200, seen));
  });
  EXPECT_EQ(client.ReadReply().body, "/path query value");
}

TEST(HttpSession, EveryExchangeHasANameAndEndsItsState) {
  Waiting waiting;
  std::vector<ExchangeId> names;
  RunningServer server([&](Exchange& exchange) {
    names.push_back(exchange.Id());
    waiting.Keep(exchange);
    exchange.Reply(TextResponse(200, "x"));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).status, 200);
  EXPECT_EQ(client.Ask(Get("/")).status, 200);
  HttpClient other(server.Port());
  EXPECT_EQ(other.Ask(Get("/")).status, 200);
  server.Ask([&] {
    ASSERT_EQ(names.size(), 3U);
    EXPECT_FALSE(names[0] == names[1]);
    EXPECT_FALSE(names[0] == names[2]);
    EXPECT_TRUE(names[1] == names[1]);
    EXPECT_EQ(waiting.Ended(), 3U);
  });
}

TEST(HttpSession, AHandlerThatThrowsCostsOneAnswer) {
  const test::CapturedStderr captured;
  RunningServer server([](Exchange& exchange) {
    const std::string path(exchange.GetRequest().uri.Path());
    if (path == "/throw") {
      throw std::runtime_error("no paper left");
    }
    if (path == "/number") {
      throw 7;
    }
    ReplyWithPath(exchange);
    if (path == "/late-throw") {
      throw std::runtime_error("after the reply");
    }
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/throw")).status, 500);
  EXPECT_EQ(client.Ask(Get("/number")).status, 500);
  EXPECT_EQ(client.Ask(Get("/late-throw")).body, "/late-throw");
  EXPECT_EQ(client.Ask(Get("/good")).body, "/good");
  EXPECT_NE(captured.Text().find("no paper left"), std::string::npos);
}

TEST(HttpSession, SomeRequestsNeverReachAHandler) {
  RunningServer server([](Exchange&) { FAIL() << "asked a handler"; });
  HttpClient client(server.Port());
  const HttpReply unknown = client.Ask("BREW /pot HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(unknown.status, 501);
  EXPECT_TRUE(unknown.complete);
  const HttpReply options = client.Ask("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.Field("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(options.Field("Content-Length"), "");
  EXPECT_EQ(client.Ask("CONNECT t:80 HTTP/1.1\r\nHost: t:80\r\n\r\n").status, 501);
}

TEST(HttpSession, AReplyToHeadHasNoBody) {
  RunningServer server([](Exchange& exchange) {
    const bool bad = exchange.GetRequest().uri.Path() == "/bad";
    exchange.Reply(bad ? ErrorResponse(403) : TextResponse(200, "twelve bytes"));
  });
  HttpClient client(server.Port());
  const std::string fields = " HTTP/1.1\r\nHost: t\r\n\r\n";
  const HttpReply head = client.Ask("HEAD /good" + fields, Asked::kHead);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Field("Content-Length"), "12");
  EXPECT_EQ(client.Ask("HEAD /bad" + fields, Asked::kHead).status, 403);
  EXPECT_EQ(client.Ask("GET /good" + fields).body, "twelve bytes");  // there was no byte in between
}

TEST(HttpSession, AHeadThatIsRefusedGetsNoBodyEither) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask("HEAD / HTTP/1.1\r\n\r\n", Asked::kHead);  // without Host
  EXPECT_EQ(reply.status, 400);
  EXPECT_NE(reply.Field("Content-Length"), "0");
  EXPECT_TRUE(client.IsClosedByServer()) << "a body lay in between";
}

TEST(HttpSession, EveryReplyHasADate) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).Field("Date").size(), 29U);
  EXPECT_EQ(client.Ask("bad\r\n\r\n").Field("Date").size(), 29U);
}

// A body is never a request, whether it is read (chapter 13) or not.
TEST(HttpSession, ABodyIsNeverTakenForTheNextRequest) {
  const std::string smuggled = Get("/smuggled");
  const std::string length = "Content-Length: " + std::to_string(smuggled.size()) + "\r\n\r\n";
  for (const std::string& body :
       {length + smuggled, "Transfer-Encoding: chunked\r\n\r\n" + smuggled}) {
    RunningServer server(ReplyWithPath);
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send("POST /first HTTP/1.1\r\nHost: t\r\n" + body));
    client.FinishSending();
    EXPECT_EQ(client.ReadReply().body, "/first");
    EXPECT_TRUE(client.IsClosedByServer());
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
