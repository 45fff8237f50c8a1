#include "web/one_name.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

class OneNameTest : public testing::Test {
 protected:
  OneNameTest()
      : server_([](HttpServer& server) {
          server.Mount("/a", [](Looper& looper) {
            return std::make_unique<OneName>(
                "example.com", test::Answering([](Exchange& exchange) {
                  exchange.Reply(TextResponse(200, exchange.SubPath()));
                })(looper));
          });
        }) {}

  auto Ask(const std::string& line, const std::string& host) -> HttpReply {
    HttpClient client(server_.Port());
    return client.Ask(line + "\r\n" + (host.empty() ? "" : "Host: " + host + "\r\n") + "\r\n");
  }

  RunningServer server_;
};

TEST_F(OneNameTest, AnotherNameIsSentToTheRightOne) {
  const HttpReply reply = Ask("GET /a/b HTTP/1.1", "www.example.com");
  EXPECT_EQ(reply.status, 308);
  EXPECT_EQ(reply.Field("Location"), "http://example.com/a/b");
  EXPECT_EQ(Ask("GET /a HTTP/1.1", "192.0.2.1").Field("Location"), "http://example.com/a");
  EXPECT_EQ(Ask("GET /a/ HTTP/1.1", "example.com.evil").status, 308);
  EXPECT_EQ(Ask("GET /a/ HTTP/1.1", "example.co").status, 308);
}

TEST_F(OneNameTest, TheRightNameIsServed) {
  for (const std::string host :
       {"example.com", "EXAMPLE.com", "example.com:80", "Example.COM:80"}) {
    const HttpReply reply = Ask("GET /a/b HTTP/1.1", host);
    EXPECT_EQ(reply.status, 200) << host;
    EXPECT_EQ(reply.body, "/b");
  }
  EXPECT_EQ(Ask("GET /a/b HTTP/1.1", "example.com:8080").status, 308);
}

TEST_F(OneNameTest, WhoNamesNobodyIsServed) { EXPECT_EQ(Ask("GET /a/b HTTP/1.0", "").status, 200); }

TEST_F(OneNameTest, TheWholeTargetIsKept) {
  EXPECT_EQ(Ask("GET /a/x%20y/./z?q=a%2Fb&c HTTP/1.1", "x").Field("Location"),
            "http://example.com/a/x%20y/./z?q=a%2Fb&c");
  EXPECT_EQ(Ask("GET /a? HTTP/1.1", "x").Field("Location"), "http://example.com/a?");
  EXPECT_EQ(Ask("GET //a//evil.example/ HTTP/1.1", "x").Field("Location"),
            "http://example.com//a//evil.example/");
}

TEST_F(OneNameTest, TheNameInTheTargetOutweighsHost) {
  EXPECT_EQ(Ask("GET http://example.com/a/b HTTP/1.1", "x").status, 200);
  EXPECT_EQ(Ask("GET http://x/a?b HTTP/1.1", "example.com").Field("Location"),
            "http://example.com/a?b");
}

TEST_F(OneNameTest, TheMethodIsKept) {
  HttpClient client(server_.Port());
  const std::string fields = " /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(client.Ask("POST" + fields).status, 308);
  const HttpReply head = client.Ask("HEAD" + fields, test::Asked::kHead);
  EXPECT_EQ(head.status, 308);
  EXPECT_EQ(head.Field("Location"), "http://example.com/a");
  EXPECT_EQ(client.Ask("GET" + fields).status, 308) << "the connection goes on";
}

}  // namespace
}  // namespace TURTLE_SERVER
