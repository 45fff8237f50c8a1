#include "web/whole_body.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

constexpr std::size_t kLimit = 10;

auto Post(std::size_t length, const std::string& fields = {}) -> std::string {
  return "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(length) + "\r\n" +
         fields + "\r\n";
}

constexpr const char* kPostChunked =
    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";

class WholeBodyTest : public testing::Test {
 protected:
  int called_ = 0;  // the loop's
  RunningServer server_{[this](Exchange& exchange) {
    TakeWhole(exchange, kLimit, [this, &exchange](const std::string& body) {
      ++called_;
      if (body == "throw") {
        throw std::runtime_error("thrown by a handler");
      }
      exchange.Reply(TextResponse(200, "<" + body + ">"));
    });
  }};
  HttpClient client_{server_.Port()};
};

TEST_F(WholeBodyTest, IsHandedOverInOnePiece) {
  ASSERT_TRUE(client_.Send(Post(5) + "he"));
  server_.Settle();
  EXPECT_EQ(client_.Ask("llo").body, "<hello>");
  EXPECT_EQ(client_.Ask(std::string(kPostChunked) + "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n").body,
            "<hello>");
  server_.Ask([&] { EXPECT_EQ(called_, 2); });
}

TEST_F(WholeBodyTest, MayBeEmptyOrNotThere) {
  EXPECT_EQ(client_.Ask(Post(0)).body, "<>");
  EXPECT_EQ(client_.Ask(Get("/")).body, "<>");
  EXPECT_EQ(client_.Ask(std::string(kPostChunked) + "0\r\n\r\n").body, "<>");
}

TEST_F(WholeBodyTest, MayHaveAsMuchAsTheLimit) {
  EXPECT_EQ(client_.Ask(Post(10) + "0123456789").body, "<0123456789>");
  const HttpReply reply =
      client_.Ask(std::string(kPostChunked) + "9\r\n012345678\r\n1\r\n9\r\n0\r\n\r\n");
  EXPECT_EQ(reply.body, "<0123456789>");
}

TEST_F(WholeBodyTest, AnAnnouncedByteTooManyIsRefusedBeforeItIsSent) {
  EXPECT_EQ(client_.Ask(Post(11)).status, 413);
  EXPECT_EQ(client_.Ask("0123456789a" + Post(1) + "x").body, "<x>") << "a short one is dropped";
}

TEST_F(WholeBodyTest, OnlyWhoFitsIsAskedToSend) {
  EXPECT_EQ(client_.Ask(Post(10, "Expect: 100-continue\r\n")).status, 100);
  EXPECT_EQ(client_.Ask("0123456789").body, "<0123456789>");
  EXPECT_EQ(client_.Ask(Post(11, "Expect: 100-continue\r\n")).status, 413);
}

TEST_F(WholeBodyTest, TheByteTooManyIsRefusedWhenItIsThere) {
  EXPECT_EQ(client_.Ask(std::string(kPostChunked) + "b\r\n0123456789a").status, 413);
  HttpClient slow(server_.Port());
  ASSERT_TRUE(slow.Send(std::string(kPostChunked) + "a\r\n0123456789\r\n"));
  server_.Settle();
  EXPECT_EQ(slow.Ask("1\r\na").status, 413);
  server_.Ask([&] { EXPECT_EQ(called_, 0); });
}

TEST_F(WholeBodyTest, AHalfIsNotHandedOver) {
  ASSERT_TRUE(client_.Send(Post(10) + "01234"));
  client_.FinishSending();
  EXPECT_TRUE(client_.IsClosedByServer());
  server_.Ask([&] { EXPECT_EQ(called_, 0); });
}

TEST_F(WholeBodyTest, WhoThrowsCostsOneReply) {
  const test::CapturedStderr silence;
  EXPECT_EQ(client_.Ask(Post(5) + "throw").status, 500);
  EXPECT_EQ(HttpClient(server_.Port()).Ask(Post(1) + "x").body, "<x>");
}

}  // namespace
}  // namespace TURTLE_SERVER
