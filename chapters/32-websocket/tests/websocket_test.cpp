// A server with WebSockets, as a client sees it.
#include "websocket/websocket.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "http/http_error.h"
#include "support/captured_stderr.h"
#include "support/close_log.h"
#include "support/frames.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "websocket/websocket_client.h"
#include "websocket/websocket_handler.h"
#include "websocket/websocket_options.h"
#include "websocket/websocket_ticket.h"

namespace TURTLE_SERVER {
namespace {

using test::Masked;

constexpr const char* kFields =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

auto Echo() -> WebSocketHandlers {
  WebSocketHandlers echo;
  echo.on_message = [](WebSocket& socket, const Message& message) {
    socket.Send(message.kind, message.bytes);
  };
  return echo;
}

// Connects to a path of the server.
auto Connect(const test::RunningServer& server, const WebSocketClientOptions& options = {})
    -> std::unique_ptr<WebSocketClient> {
  return std::make_unique<WebSocketClient>(
      NetAddress("127.0.0.1", static_cast<std::uint16_t>(server.Port())), options);
}

// Waits for an event; that of a lost connection if nothing comes.
auto Next(WebSocketClient& client) -> WebSocketEvent {
  return client.Receive().value_or(WebSocketEvent());
}
auto NextFrame(WebSocketClient& client) -> WebSocketEvent {
  return client.ReceiveFrame().value_or(WebSocketEvent());
}

// Expects a Close with this code, and the end of the connection.
void ExpectClose(WebSocketClient& client, CloseCode code) {
  const auto event = client.Receive();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->event, ReadEvent::kClose);
  EXPECT_EQ(event->code, code) << static_cast<int>(event->code);
  const auto end = client.ReceiveFrame();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->event, ReadEvent::kFailed);
}

class WebSocketTest : public testing::Test {
 protected:
  void Mount(HttpServer& server) {
    WebSocketHandlers logged = log_.Handlers();
    server.WebSocket("/echo", Echo());
    server.WebSocket("/log", logged);
    logged.on_message = [this](WebSocket& socket, const Message& message) {
      Act(socket, message.bytes);
    };
    logged.on_request = [](Exchange& exchange) -> std::shared_ptr<void> {
      const std::string_view name = exchange.GetRequest().uri.Query();
      if (name.empty()) {
        throw HttpError(401, "Who are you?");
      }
      return std::make_shared<std::string>(name);
    };
    WebSocketOptions options;
    options.protocols = {"v1", "v2"};
    options.max_message_bytes = 1000;
    server.WebSocket("/act", logged, options);
  }

  void Act(WebSocket& socket, std::string_view what) {
    if (what == "throw") {
      throw std::runtime_error("as you like");
    }
    if (what == "drop") {
      socket.GetConnection().Close();
    } else if (what == "close") {
      socket.Close(static_cast<CloseCode>(4001), "as you like");
    } else if (what == "name") {
      socket.SendText(*socket.Data<std::string>());
    } else if (what == "protocol") {
      socket.SendText(socket.Protocol());
    } else if (what == "ping") {
      socket.Ping("are you there?");
    } else if (what == "ticket") {
      tickets_.push_back(std::make_unique<WebSocketTicket>(socket));
      log_.Add("ticket");
    }
  }

  auto Acting(const std::string& query = "?ada") -> std::unique_ptr<WebSocketClient> {
    WebSocketClientOptions options;
    options.target = "/act" + query;
    options.protocols = {"v2"};
    return Connect(server_, options);
  }

  test::CloseLog log_;
  std::vector<std::unique_ptr<WebSocketTicket>> tickets_;  // of the loop's thread, then the test's
  test::RunningServer server_{[this](HttpServer& server) { Mount(server); }};
};

auto At(const char* target, const char* extensions = "") -> WebSocketClientOptions {
  WebSocketClientOptions options;
  options.target = target;
  options.extensions = extensions;
  return options;
}

TEST_F(WebSocketTest, EchoesTextAndBytes) {
  const auto client = Connect(server_, At("/echo"));
  for (const std::size_t size : {0U, 5U, 125U, 126U, 65535U, 65536U, 300'000U}) {
    const std::string text(size, 'x');
    client->SendText(text);
    client->SendBinary(text);
    for (const MessageKind kind : {MessageKind::kText, MessageKind::kBinary}) {
      const auto event = client->Receive();
      ASSERT_TRUE(event);
      EXPECT_EQ(event->event, ReadEvent::kMessage);
      EXPECT_EQ(event->kind, kind);
      EXPECT_TRUE(event->bytes == text);
    }
  }
}

TEST_F(WebSocketTest, MessagesSentWithTheRequestAreRead) {
  test::Client client(server_.Port());
  client.Send(test::Get("/echo", kFields) + Masked(0x81, "early"));
  const std::string reply = client.Receive(129 + 7, std::chrono::seconds(10));
  EXPECT_NE(reply.find("HTTP/1.1 101"), std::string::npos);
  EXPECT_NE(reply.find("\x81\x05"
                       "early"),
            std::string::npos);
}

TEST_F(WebSocketTest, EchoesCompressedMessages) {
  for (const char* const offer :
       {"permessage-deflate", "permessage-deflate; server_max_window_bits=8",
        "permessage-deflate; client_max_window_bits; client_no_context_takeover"}) {
    const auto client = Connect(server_, At("/echo", offer));
    ASSERT_TRUE(client->Deflate());
    for (int i = 0; i < 3; ++i) {
      const std::string text(70'000, static_cast<char>('a' + i));
      client->SendText(text);
      const auto event = client->Receive();
      ASSERT_TRUE(event);
      EXPECT_TRUE(event->bytes == text);
    }
  }
}

TEST_F(WebSocketTest, AnswersPings) {
  const auto client = Connect(server_, At("/echo"));
  client->Ping("payload");
  const auto pong = client->ReceiveFrame();
  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->event, ReadEvent::kPong);
  EXPECT_EQ(pong->bytes, "payload");
}

TEST_F(WebSocketTest, AnswersACloseAndTellsTheHandler) {
  const auto client = Connect(server_, At("/log"));
  client->SendText("hello");
  client->Close(CloseCode::kGoingAway, "bye");
  ExpectClose(*client, CloseCode::kGoingAway);
  EXPECT_TRUE(server_.Await([&] { return log_.All().size() == 3; }));
  EXPECT_EQ(log_.All(), (std::vector<std::string>{"open", "hello", "close 1001 bye"}));
}

TEST_F(WebSocketTest, ACloseWithoutACodeIsAnsweredWithoutOne) {
  const auto client = Connect(server_, At("/log"));
  client->Close(CloseCode::kNoCode);
  ExpectClose(*client, CloseCode::kNoCode);
  EXPECT_TRUE(server_.Await([&] { return log_.Last() == "close 1005 "; }));
}

TEST_F(WebSocketTest, AClientThatLeavesWithoutACloseHasCode1006) {
  Connect(server_, At("/log")).reset();
  EXPECT_TRUE(server_.Await([&] { return log_.Last() == "close 1006 "; }));
}

TEST_F(WebSocketTest, ABrokenRuleEndsTheConnectionWithItsCode) {
  const std::vector<std::pair<std::string, CloseCode>> cases = {
      {std::string("\x83\x80\0\0\0\0", 6), CloseCode::kProtocolError},
      {std::string("\x81\x01x", 3), CloseCode::kProtocolError},
      {Masked(0x80, "x"), CloseCode::kProtocolError},
      {Masked(0x81, "\xFF"), CloseCode::kInvalidPayload},
      {std::string("\x82\xFF\0\0\0\1\0\0\0\0\0\0\0\0", 14), CloseCode::kTooBig}};
  for (const auto& [bytes, code] : cases) {
    const auto client = Connect(server_, At("/log"));
    client->SendBytes(bytes + std::string(100'000, 'x'));  // still sending: no reset may come
    ASSERT_NO_FATAL_FAILURE(ExpectClose(*client, code));
    const std::string last = "close " + std::to_string(static_cast<int>(code)) + " ";
    EXPECT_TRUE(server_.Await([&, last = last] { return log_.Last() == last; }));
  }
}

TEST_F(WebSocketTest, TheServerMayCloseFirst) {
  const auto client = Acting();
  client->SendText("close");
  client->SendText("dropped");
  const auto event = client->ReceiveFrame();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->event, ReadEvent::kClose);
  EXPECT_EQ(static_cast<int>(event->code), 4001);
  EXPECT_EQ(event->bytes, "as you like");
  EXPECT_EQ(log_.Last(), "open");  // not before the client has closed, too
  client->Close(static_cast<CloseCode>(4002), "so be it");
  EXPECT_EQ(NextFrame(*client).event, ReadEvent::kFailed);
  EXPECT_TRUE(server_.Await([&] { return log_.Last() == "close 4002 so be it"; }));
}

TEST_F(WebSocketTest, AConnectionThatIsDroppedDeliversNoFurtherMessage) {
  const auto client = Acting();
  client->SendBytes(Masked(0x81, "drop") + Masked(0x81, "ticket"));
  EXPECT_EQ(NextFrame(*client).event, ReadEvent::kFailed);
  EXPECT_TRUE(server_.Await([&] { return log_.All().size() == 2; }));
  EXPECT_EQ(log_.All(), (std::vector<std::string>{"open", "close 1006 "}));
}

TEST_F(WebSocketTest, AConnectionThatIsDroppedInOnOpenDeliversNone) {
  test::CloseLog log;
  test::RunningServer server([&](HttpServer& http) {
    WebSocketHandlers handlers = log.Handlers();
    handlers.on_open = [&log](WebSocket& socket) {
      log.Add("open");
      socket.GetConnection().Close();
    };
    http.WebSocket("/", handlers);
  });
  test::Client client(server.Port());
  client.Send(test::Get("/", kFields) + Masked(0x81, "early"));
  client.ReceiveAll();
  EXPECT_TRUE(server.Await([&] { return log.All().size() == 2; }));
  EXPECT_EQ(log.All(), (std::vector<std::string>{"open", "close 1006 "}));
}

TEST_F(WebSocketTest, AnExceptionClosesWith1011) {
  const test::CapturedStderr logged;
  const auto client = Acting();
  client->SendText("throw");
  ASSERT_NO_FATAL_FAILURE(ExpectClose(*client, CloseCode::kInternalError));
  EXPECT_TRUE(server_.Await([&] { return log_.Last() == "close 1011 "; }));
  const auto other = Acting();
  other->SendText("name");
  EXPECT_EQ(Next(*other).bytes, "ada");
}

TEST_F(WebSocketTest, TheRequestMayBeRefusedByItsHandler) {
  test::HttpClient client(server_.Port());
  client.Send(test::Get("/act", kFields));
  EXPECT_EQ(client.ReadReply().status, 401);
  client.Send(test::Get("/act?ada", kFields));
  EXPECT_EQ(client.ReadReply().status, 101);
}

TEST_F(WebSocketTest, TheHandlerKnowsDataAndProtocol) {
  const auto client = Acting("?grace");
  EXPECT_EQ(client->Protocol(), "v2");
  client->SendText("name");
  EXPECT_EQ(Next(*client).bytes, "grace");
  client->SendText("protocol");
  EXPECT_EQ(Next(*client).bytes, "v2");
  client->SendText("ping");
  EXPECT_EQ(NextFrame(*client).bytes, "are you there?");
}

TEST_F(WebSocketTest, AnyThreadMaySendByATicket) {
  auto client = Acting();
  client->SendText("ticket");
  ASSERT_TRUE(server_.Await([&] { return log_.Last() == "ticket"; }));
  const WebSocketTicket ticket = *tickets_.front();
  EXPECT_TRUE(ticket.SendText("from another thread"));
  EXPECT_EQ(Next(*client).bytes, "from another thread");
  EXPECT_TRUE(ticket.SendBinary("bytes"));
  EXPECT_EQ(Next(*client).kind, MessageKind::kBinary);
  EXPECT_TRUE(ticket.Close(CloseCode::kTryAgainLater, "later"));
  ExpectClose(*client, CloseCode::kTryAgainLater);
  EXPECT_TRUE(ticket.SendText("nobody is there"));  // and nothing happens
  server_.Settle();
}

TEST_F(WebSocketTest, ATaskOfATicketThatThrowsClosesWith1011) {
  const test::CapturedStderr logged;
  auto client = Acting();
  client->SendText("ticket");
  ASSERT_TRUE(server_.Await([&] { return log_.Last() == "ticket"; }));
  tickets_.front()->Post([](WebSocket&) { throw std::runtime_error("oh"); });
  ExpectClose(*client, CloseCode::kInternalError);
}

TEST_F(WebSocketTest, RequestsThatAreNoHandshakesGetTheirStatus) {
  test::HttpClient client(server_.Port());
  client.Send(test::Get("/echo"));
  EXPECT_EQ(client.ReadReply().status, 426);
  client.Send(test::Get("/echo/below", kFields));
  EXPECT_EQ(client.ReadReply().status, 404);
  client.Send(test::Get("/echo", std::string(kFields) + "Origin: https://evil.example\r\n"));
  EXPECT_EQ(client.ReadReply().status, 403);
  client.Send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.ReadReply().status, 405);
}

TEST_F(WebSocketTest, MiddlewareIsCalledInAGroupOnly) {
  const auto route = std::make_shared<const WebSocketRoute>(WebSocketRoute{Echo(), {}});
  test::RunningServer server([&](HttpServer& http) {
    http.Use({[](const ServerRequest&) { return ServerResponse(401); }});
    http.WebSocket("/open", Echo());
    http.Group("/guarded").Mount("/echo", [route](Looper&) {
      return std::make_unique<WebSocketHandler>(route);
    });
  });
  EXPECT_THROW(Connect(server, At("/guarded/echo")), std::runtime_error);
  const auto client = Connect(server, At("/open"));
  client->SendText("hello");
  EXPECT_EQ(Next(*client).bytes, "hello");
}

TEST_F(WebSocketTest, AGroupsMiddlewareMayLetItPass) {
  const auto route = std::make_shared<const WebSocketRoute>(WebSocketRoute{Echo(), {}});
  test::RunningServer server([&](HttpServer& http) {
    RouteGroup group = http.Group("/guarded");
    group.Use({[](const ServerRequest& request) -> std::optional<ServerResponse> {
      return request.Query("key") ? std::nullopt : std::optional(ServerResponse(401));
    }});
    group.Mount("/echo", [route](Looper&) { return std::make_unique<WebSocketHandler>(route); });
  });
  EXPECT_THROW(Connect(server, At("/guarded/echo")), std::runtime_error);
  const auto client = Connect(server, At("/guarded/echo?key=1"));
  client->SendText("hello");
  EXPECT_EQ(Next(*client).bytes, "hello");
}

TEST_F(WebSocketTest, StopClosesWith1001) {
  const auto client = Connect(server_, At("/log"));
  ASSERT_TRUE(server_.Await([&] { return log_.Last() == "open"; }));
  server_.Get().Stop();
  ExpectClose(*client, CloseCode::kGoingAway);
  server_.Join();
  EXPECT_EQ(log_.Last(), "close 1001 ");
}

TEST_F(WebSocketTest, DrainClosesWith1001) {
  const auto client = Connect(server_, At("/log"));
  ASSERT_TRUE(server_.Await([&] { return log_.Last() == "open"; }));
  server_.Get().Drain();
  ExpectClose(*client, CloseCode::kGoingAway);
  server_.Join();
}

TEST_F(WebSocketTest, ATicketRefusesACodeThatMayNotBeSent) {
  const auto client = Acting();
  client->SendText("ticket");
  ASSERT_TRUE(server_.Await([&] { return log_.Last() == "ticket"; }));
  EXPECT_THROW(tickets_.front()->Close(CloseCode::kAbnormal), std::invalid_argument);
  tickets_.front()->SendText("still open");
  EXPECT_EQ(Next(*client).bytes, "still open");
}

TEST_F(WebSocketTest, AClientsReasonIsCutBeforeACharacter) {
  const auto client = Connect(server_, At("/log"));
  const std::string fits(122, 'x');
  client->Close(CloseCode::kNormal, fits + "\xC3\xA9 and more");
  ExpectClose(*client, CloseCode::kNormal);
  EXPECT_TRUE(server_.Await([&] { return log_.Last() == "close 1000 " + fits; }));
}

TEST_F(WebSocketTest, CloseRefusesACodeThatMayNotBeSent) {
  const auto client = Acting();
  client->SendText("ticket");
  ASSERT_TRUE(server_.Await([&] { return log_.Last() == "ticket"; }));
  bool thrown = false;
  tickets_.front()->Post([&](WebSocket& socket) {
    try {
      socket.Close(CloseCode::kAbnormal);
    } catch (const std::invalid_argument&) {
      thrown = true;
    }
    socket.SendText("still open");
  });
  EXPECT_EQ(Next(*client).bytes, "still open");
  EXPECT_TRUE(server_.Ask([&] { return thrown; }));
}

}  // namespace
}  // namespace TURTLE_SERVER
