// "stale-while-revalidate" (RFC 5861): the old response for all but one, while the new one is made.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "support/cached_server.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using namespace std::chrono_literals;
using test::CachedServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::Waiting;

constexpr const char* kStale = "max-age=5, stale-while-revalidate=10";

// The handler keeps every exchange open until the test responds to it.
class StaleWhileMadeTest : public testing::Test {
 protected:
  static auto Made(const std::string& text, const std::string& keeping = kStale) -> Response {
    return TextResponse(200, text).Set("Cache-Control", keeping);
  }

  auto AwaitHandler(std::size_t count) -> bool {
    return server_.Server().Loop().Await([&] { return waiting_.Count() == count; });
  }

  void Answer(const Response& response) {
    server_.Server().Loop().Ask([&] { waiting_.Last()->Reply(response); });
  }

  // Asks for "/" and has `response` made for it.
  void Keep(const Response& response, const std::string& fields = "") {
    HttpClient client(server_.Port());
    client.Send(Get("/", fields));
    ASSERT_TRUE(AwaitHandler(1));
    Answer(response);
    ASSERT_EQ(client.ReadReply().status, response.Status());
    ASSERT_TRUE(AwaitHandler(0));
  }

  // Sends a request whose response is then being made.
  void Begin(HttpClient& client, std::size_t in_handler = 1, const std::string& fields = "") {
    client.Send(Get("/", fields));
    ASSERT_TRUE(AwaitHandler(in_handler));
  }

  // The response that a request for "/" gets at once; its status is 0 if the request has to wait.
  auto AtOnce(const std::string& fields = "") -> HttpReply {
    HttpClient client(server_.Port());
    client.Send(Get("/", fields));
    const bool told = server_.Server().Loop().Await(
        [&] { return server_.Cache().Waiting() != 0 || client.HasInput(0ms); });
    return told && client.HasInput(0ms) ? client.ReadReply() : HttpReply();
  }

  // Sends a request that has to wait; it gets its response once `first` has got "new".
  void ExpectsTheNew(HttpClient& first) {
    HttpClient second(server_.Port());
    second.Send(Get("/"));
    ASSERT_TRUE(server_.AwaitWaiting(1));
    Answer(Made("new"));
    EXPECT_EQ(first.ReadReply().body, "new");
    EXPECT_EQ(second.ReadReply().body, "new");
  }

  Waiting waiting_;
  CachedServer server_{[this](Exchange& exchange) { waiting_.Keep(exchange); }};
  HttpClient first_{server_.Port()};
};

TEST_F(StaleWhileMadeTest, TheOthersGetTheOldOneAtOnce) {
  Keep(Made("old"));
  server_.Server().Advance(5s);
  Begin(first_);
  for (int i = 0; i < 3; ++i) {
    const HttpReply reply = AtOnce();
    EXPECT_EQ(reply.body, "old");
    EXPECT_EQ(reply.Field("Age"), "5");
  }
  EXPECT_TRUE(server_.AwaitWaiting(0));
  EXPECT_EQ(server_.Calls(), 2);
  Answer(Made("new"));
  EXPECT_EQ(first_.ReadReply().body, "new");
  const HttpReply reply = AtOnce();
  EXPECT_EQ(reply.body, "new");
  EXPECT_EQ(reply.Field("Age"), "0");
  EXPECT_EQ(server_.Calls(), 2);
}

TEST_F(StaleWhileMadeTest, AFreshOneNeedsNoNewOne) {
  Keep(Made("old"));
  server_.Server().Advance(4999ms);
  EXPECT_EQ(AtOnce().body, "old");
  EXPECT_EQ(server_.Calls(), 1);
}

TEST_F(StaleWhileMadeTest, ItsTimeEnds) {
  Keep(Made("old"));
  server_.Server().Advance(5s);
  Begin(first_);
  server_.Server().Advance(9999ms);
  EXPECT_EQ(AtOnce().body, "old");
  server_.Server().Advance(1ms);
  ExpectsTheNew(first_);
}

TEST_F(StaleWhileMadeTest, WithoutTheDirectiveTheyWait) {
  Keep(Made("old", "max-age=5"));
  server_.Server().Advance(5s);
  Begin(first_);
  ExpectsTheNew(first_);
}

TEST_F(StaleWhileMadeTest, ANumberThatIsNoneIsNoTime) {
  Keep(Made("old", "max-age=5, stale-while-revalidate=soon"));
  server_.Server().Advance(5s);
  Begin(first_);
  ExpectsTheNew(first_);
}

TEST_F(StaleWhileMadeTest, MustRevalidateCountsMore) {
  Keep(Made("old", "must-revalidate, max-age=5, stale-while-revalidate=10"));
  server_.Server().Advance(5s);
  Begin(first_);
  ExpectsTheNew(first_);
}

TEST_F(StaleWhileMadeTest, AChangeEndsIt) {
  Keep(Made("old"));
  server_.Server().Advance(5s);
  HttpClient writer(server_.Port());
  writer.Send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(AwaitHandler(1));
  Answer(TextResponse(200, "written"));
  EXPECT_EQ(writer.ReadReply().body, "written");
  Begin(first_);
  ExpectsTheNew(first_);
}

TEST_F(StaleWhileMadeTest, ARequestWithDemandsIsNeverGivenIt) {
  Keep(Made("old"));
  server_.Server().Advance(5s);
  Begin(first_);
  std::size_t in_handler = 1;
  for (const char* field : {"Cache-Control: no-cache\r\n", "Cache-Control: max-age=60\r\n",
                            "Cookie: a=1\r\n", "If-None-Match: \"a\"\r\n"}) {
    HttpClient client(server_.Port());
    Begin(client, ++in_handler, field);
    client.Reset();
    ASSERT_TRUE(AwaitHandler(--in_handler)) << field;
  }
}

TEST_F(StaleWhileMadeTest, WhenTheFirstLeavesTheNextMakesIt) {
  Keep(Made("old"));
  server_.Server().Advance(5s);
  Begin(first_);
  first_.Reset();
  ASSERT_TRUE(AwaitHandler(0));
  HttpClient second(server_.Port());
  Begin(second);
  EXPECT_EQ(AtOnce().body, "old");
  Answer(Made("new"));
  EXPECT_EQ(second.ReadReply().body, "new");
}

TEST_F(StaleWhileMadeTest, AfterAnErrorThereIsStillTheOldOne) {
  Keep(Made("old"));
  server_.Server().Advance(5s);
  Begin(first_);
  Answer(ErrorResponse(503));
  EXPECT_EQ(first_.ReadReply().status, 503);
  HttpClient second(server_.Port());
  Begin(second);
  EXPECT_EQ(AtOnce().body, "old");
}

TEST_F(StaleWhileMadeTest, AfterOneThatIsNotToBeKeptThereIsNone) {
  Keep(Made("old"));
  server_.Server().Advance(5s);
  Begin(first_);
  Answer(Made("mine", "no-store"));
  EXPECT_EQ(first_.ReadReply().body, "mine");
  HttpClient second(server_.Port());
  Begin(second, 1);
  HttpClient third(server_.Port());
  Begin(third, 2);
}

TEST_F(StaleWhileMadeTest, EachVariantHasItsOwn) {
  const auto varying = [](const std::string& text) { return Made(text).Set("Vary", "X-A"); };
  Keep(varying("old a"), "X-A: a\r\n");
  Keep(varying("old b"), "X-A: b\r\n");
  server_.Server().Advance(5s);
  Begin(first_, 1, "X-A: a\r\n");
  EXPECT_EQ(AtOnce("X-A: a\r\n").body, "old a");
  HttpClient second(server_.Port());
  Begin(second, 2, "X-A: b\r\n");
  EXPECT_EQ(AtOnce("X-A: b\r\n").body, "old b");
}

}  // namespace
}  // namespace TURTLE_SERVER
