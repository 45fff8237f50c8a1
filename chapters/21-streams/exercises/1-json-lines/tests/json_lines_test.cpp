#include "web/json_lines.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using nlohmann::json;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

class JsonLinesTest : public testing::Test {
 protected:
  auto Ask(const std::string& target) -> HttpReply {
    return HttpClient(server_.Port()).Ask(Get(target));
  }

 private:
  RunningServer server_{[](HttpServer& http) {
    http.Get("/all", [](const ServerRequest&, const Responder& responder) {
      ServerResponse head(202);
      head.Set("X-Export", "7").Set("Content-Type", "text/plain");
      const JsonLines lines(responder, std::move(head));
      lines.Send({{"id", 1}, {"text", "two\nlines"}});
      lines.Send(nullptr);
      lines.Send("\xff");
      lines.End();
    });
    http.Get("/none",
             [](const ServerRequest&, const Responder& responder) { JsonLines(responder).End(); });
    http.Get("/cut", [](const ServerRequest&, const Responder& responder) {
      JsonLines(responder).Send(1);
    });
    http.Get("/late", [](const ServerRequest&, const Responder& responder) {
      responder.Reply(ServerResponse(204));
      EXPECT_EQ(JsonLines(responder).Send(1), StreamState::kGone);
    });
    http.Get("/open", [](const ServerRequest&, const Responder& responder) {
      const JsonLines lines(responder);
      EXPECT_EQ(lines.Send(1), StreamState::kOpen);
      lines.End();
      EXPECT_EQ(lines.Send(2), StreamState::kGone);
    });
  }};
};

TEST_F(JsonLinesTest, EachValueIsALine) {
  const HttpReply reply = Ask("/all");
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(reply.Field("Content-Type"), "application/x-ndjson");
  EXPECT_EQ(reply.Field("X-Export"), "7");
  EXPECT_EQ(reply.body, "{\"id\":1,\"text\":\"two\\nlines\"}\nnull\n\"\xef\xbf\xbd\"\n");
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(Ask("/none").body, "");
  EXPECT_TRUE(Ask("/none").complete);
}

TEST_F(JsonLinesTest, AResponseThatIsDroppedIsCut) {
  const HttpReply reply = Ask("/cut");
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.complete);
}

TEST_F(JsonLinesTest, TheStateIsThatOfTheStream) {
  EXPECT_EQ(Ask("/late").status, 204);
  EXPECT_EQ(Ask("/open").body, "1\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
