// Which requests become WebSockets, and what the others get.
#include "websocket/handshake.h"

#include <gtest/gtest.h>

#include <string>

#include "http/http_parser.h"

namespace TURTLE_SERVER {
namespace {

// A request whose lines a test changes.
struct Lines {
  std::string first = "GET /chat HTTP/1.1\r\n";
  std::string host = "Host: server.example\r\n";
  std::string upgrade = "Upgrade: websocket\r\n";
  std::string connection = "Connection: keep-alive, Upgrade\r\n";
  std::string version = "Sec-WebSocket-Version: 13\r\n";
  std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  std::string more{};

  [[nodiscard]] auto Text() const -> std::string {
    return first + host + upgrade + connection + version + key + more + "\r\n";
  }
};

class HandshakeTest : public testing::Test {
 protected:
  auto Parse() -> const Request& {
    text_ = lines_.Text();
    const ParserLimits limits;  // outlive the parser
    HttpParser parser(limits);
    EXPECT_EQ(parser.Parse(text_, request_).state, ParseState::kDone);
    return request_;
  }
  auto Status() -> int {
    const auto refusal = CheckHandshake(Parse(), options_);
    return refusal ? refusal->Status() : 101;
  }
  // Returns the head of the response that refuses the request, or "".
  auto Refusal() -> std::string {
    std::string head;
    if (const auto refusal = CheckHandshake(Parse(), options_)) {
      refusal->AppendHead({}, head);
    }
    return head;
  }
  auto Fields() -> std::string {
    std::string head;
    const Request& request = Parse();
    AcceptFields(request, options_, Agree(request, options_)).AppendHead({}, head);
    return head;
  }

  Lines lines_;
  WebSocketOptions options_;
  std::string text_;
  Request request_;
};

auto Has(std::string_view text, std::string_view part) -> bool {
  return text.find(part) != std::string_view::npos;
}

TEST_F(HandshakeTest, TakesARightRequest) {
  EXPECT_EQ(Status(), 101);
  EXPECT_TRUE(Has(Fields(), "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_FALSE(Has(Fields(), "Sec-WebSocket-Protocol"));
  EXPECT_FALSE(Has(Fields(), "Sec-WebSocket-Extensions"));
}

TEST_F(HandshakeTest, NamesAreComparedInAnyCase) {
  lines_.upgrade = "UPGRADE: WebSocket\r\n";
  lines_.connection = "connection: UPGRADE\r\n";
  EXPECT_EQ(Status(), 101);
  lines_.connection = "connection: UPGRADES\r\n";
  EXPECT_EQ(Status(), 400);
}

TEST_F(HandshakeTest, OtherMethodsGetA405) {
  lines_.first = "POST /chat HTTP/1.1\r\n";
  EXPECT_EQ(Status(), 405);
  lines_.first = "HEAD /chat HTTP/1.1\r\n";
  EXPECT_EQ(Status(), 405);
}

TEST_F(HandshakeTest, AnOrdinaryRequestGetsA426) {
  lines_.upgrade = lines_.connection = "";
  EXPECT_EQ(Status(), 426);
  lines_.upgrade = "Upgrade: h2c\r\n";
  EXPECT_EQ(Status(), 426);
  const std::string head = Refusal();
  EXPECT_TRUE(Has(head, "Upgrade: websocket\r\n"));
  EXPECT_TRUE(Has(head, "Connection: upgrade\r\n"));
}

TEST_F(HandshakeTest, AnotherVersionGetsA426WithOurs) {
  for (const char* const version : {"", "Sec-WebSocket-Version: 8\r\n",
                                    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Version: 8\r\n"}) {
    lines_.version = version;
    EXPECT_EQ(Status(), 426) << version;
  }
  const std::string head = Refusal();
  EXPECT_TRUE(Has(head, "Sec-WebSocket-Version: 13\r\n"));
}

TEST_F(HandshakeTest, ContentOrTheConnectionsEndGetsA400) {
  for (const char* const more : {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"}) {
    lines_.more = more;
    EXPECT_EQ(Status(), 400) << more;
  }
  lines_.more = "Content-Length: 0\r\n";
  EXPECT_EQ(Status(), 101);
  lines_.connection = "Connection: close, Upgrade\r\n";
  EXPECT_EQ(Status(), 400);
}

TEST_F(HandshakeTest, AMissingOrWrongFieldGetsA400) {
  lines_.connection = "Connection: close\r\n";
  EXPECT_EQ(Status(), 400);
  lines_ = {};
  lines_.key = "";
  EXPECT_EQ(Status(), 400);
  lines_.key = "Sec-WebSocket-Key: short\r\n";
  EXPECT_EQ(Status(), 400);
  lines_ = {};
  lines_.more = lines_.key;  // twice
  EXPECT_EQ(Status(), 400);
}

TEST_F(HandshakeTest, PagesOfTheSameServerMayConnect) {
  lines_.more = "Origin: https://server.example\r\n";
  EXPECT_EQ(Status(), 101);
  lines_.more = "Origin: http://SERVER.example\r\n";
  EXPECT_EQ(Status(), 101);
  for (const char* const origin : {"https://evil.example", "https://server.example.evil.example",
                                   "https://server.example:81", "null", "server.example", ""}) {
    lines_.more = std::string("Origin: ") + origin + "\r\n";
    EXPECT_EQ(Status(), 403) << origin;
  }
  lines_.more = "Origin: https://server.example\r\nOrigin: https://server.example\r\n";
  EXPECT_EQ(Status(), 403);
}

TEST_F(HandshakeTest, OtherPagesMayConnectIfTheyAreListed) {
  options_.origins = {"https://one.example", "https://two.example"};
  lines_.more = "Origin: https://two.example\r\n";
  EXPECT_EQ(Status(), 101);
  lines_.more = "Origin: https://server.example\r\n";
  EXPECT_EQ(Status(), 403);
  options_.origins = {"*"};
  EXPECT_EQ(Status(), 101);
}

TEST_F(HandshakeTest, ChoosesTheClientsFirstProtocolThatItKnows) {
  options_.protocols = {"chat.v1", "chat.v2"};
  lines_.more = "Sec-WebSocket-Protocol: other, chat.v2\r\nSec-WebSocket-Protocol: chat.v1\r\n";
  EXPECT_TRUE(Has(Fields(), "Sec-WebSocket-Protocol: chat.v2\r\n"));
  EXPECT_EQ(Agree(Parse(), options_).protocol, 1U);
  lines_.more = "Sec-WebSocket-Protocol: CHAT.V1\r\n";  // these have a case
  EXPECT_EQ(Agree(Parse(), options_).protocol, Agreement::kNoProtocol);
}

TEST_F(HandshakeTest, AgreesOnCompression) {
  lines_.more = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n";
  EXPECT_TRUE(Has(Fields(),
                  "Sec-WebSocket-Extensions: permessage-deflate; "
                  "server_no_context_takeover; client_no_context_takeover\r\n"));
  options_.deflate.enabled = false;
  EXPECT_FALSE(Has(Fields(), "Sec-WebSocket-Extensions"));
}

}  // namespace
}  // namespace TURTLE_SERVER
