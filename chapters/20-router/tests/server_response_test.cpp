// Bodies that a response keeps, and how they are sent.
#include "web/server_response.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

TEST(ServerResponse, AStringThatIsMovedKeepsItsMemory) {
  const std::string text(1000, 'x');
  for (int way = 0; way < 3; ++way) {
    std::string moved = text;
    const char* const memory = moved.data();
    ServerResponse response;
    way == 0   ? response.Body(std::move(moved))
    : way == 1 ? response.Text(std::move(moved))
               : response.Html(std::move(moved));
    EXPECT_EQ(response.Body(), text);
    EXPECT_EQ(response.Body().data(), memory);
    EXPECT_EQ(response.TakeBody().data(), memory);
    EXPECT_EQ(response.Body(), "");
  }
}

TEST(ServerResponse, OtherTextsAreCopied) {
  ServerResponse response;
  std::string text = "one";
  EXPECT_EQ(response.Text(text).Body(), "one");
  EXPECT_EQ(text, "one");
  EXPECT_EQ(response.Text("two").Body(), "two");
  EXPECT_EQ(response.Html(std::string_view("three")).Body(), "three");
  EXPECT_EQ(response.Find("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(response.Body("four").Find("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(response.Page(404, "five").Text(std::string("six")).Body(), "six");
  EXPECT_FALSE(response.Head().ErrorDetail());
}

TEST(ServerResponse, APartOfItselfMayBecomeTheBody) {
  const std::string text(500, 'x');
  ServerResponse response;
  response.Page(404, text);
  response.Text(response.Body());
  EXPECT_NE(response.Body().find(text), std::string::npos);
  response.Page(404, text);
  response.Page(503, *response.Head().ErrorDetail());
  EXPECT_EQ(response.Head().ErrorDetail(), text);
  response.Text(text);
  response.Page(502, response.Body());
  EXPECT_EQ(response.Head().ErrorDetail(), text);
  EXPECT_NE(response.Body().find(text), std::string::npos);
}

TEST(ServerResponse, TheWholeHasThePageOrTheBody) {
  ServerResponse response;
  response.Set("X-One", "1").Text("text");
  Response whole = response.Whole();
  EXPECT_EQ(whole.Find("X-One"), "1");
  EXPECT_EQ(whole.BodySize(), 4U);
  EXPECT_EQ(response.Body(), "");
  response.Page(404, "detail");
  whole = response.Whole();
  EXPECT_EQ(whole.Status(), 404);
  EXPECT_EQ(whole.ErrorDetail(), "detail");
}

// A body of each size, with a client that reads late, and a second request after the first.
TEST(ServerResponse, LargeBodiesArriveWhole) {
  const auto text = [](std::size_t size) {
    std::string made(size, '.');
    for (std::size_t i = 0; i < size; i += 1000) {
      made[i] = static_cast<char>('a' + i / 1000 % 26);
    }
    return made;
  };
  RunningServer server([&](HttpServer& http) {
    http.Get("/{size:int}", [&](const ServerRequest& req, ServerResponse& res) {
      res.Text(text(static_cast<std::size_t>(req.Integer("size"))));
    });
  });
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, ServerResponse::kMaxKept,
                                 ServerResponse::kMaxKept + 1, std::size_t{3'000'000}}) {
    HttpClient client(server.Port());
    const std::string request = Get("/" + std::to_string(size));
    ASSERT_TRUE(client.Send(request + request));
    for (int i = 0; i < 2; ++i) {
      const HttpReply reply = client.ReadReply();
      EXPECT_TRUE(reply.complete);
      EXPECT_TRUE(reply.body == text(size)) << request << reply.body.size();
    }
    const HttpReply head = client.Ask("HEAD" + request.substr(3), Asked::kHead);
    EXPECT_EQ(head.Field("Content-Length"), std::to_string(size));
    EXPECT_EQ(client.Ask(Get("/1")).body, "a");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
