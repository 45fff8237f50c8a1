// An upload must not wait for a permission that never comes, nor cost the next request.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/child.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using test::ExampleServer;
using test::HttpClient;
using test::HttpReply;

TEST(Upload, AClientThatWaitsForLeaveGetsItAtOnce) {
  const ExampleServer server("upload_server", {"0"});
  ASSERT_GT(server.Port(), 0) << server.FirstLine();
  HttpClient client(server.Port());
  ASSERT_TRUE(
      client.Send("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n"
                  "Expect: 100-continue\r\n\r\n"));
  ASSERT_EQ(client.ReadReply().status, 100);
  const HttpReply reply = client.Ask("hello");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "5 bytes\n");
}

TEST(Upload, TheConnectionGoesOnBehindABody) {
  const ExampleServer server("upload_server", {"0"});
  ASSERT_GT(server.Port(), 0) << server.FirstLine();
  HttpClient client(server.Port());
  const std::string request = "POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello";
  EXPECT_EQ(client.Ask(request).status, 200);
  EXPECT_EQ(client.Ask(request).status, 200);
  EXPECT_EQ(client.Ask(test::Get("/upload")).status, 405);
}

}  // namespace
}  // namespace TURTLE_SERVER
