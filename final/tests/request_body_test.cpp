// Bodies that a handler takes as they arrive.
#include "web/request_body.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "http/http_error.h"
#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

auto Post(const std::string& target, const std::string& fields) -> std::string {
  return "POST " + target + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n";
}

auto PostOf(const std::string& target, std::size_t size) -> std::string {
  return Post(target, "Content-Length: " + std::to_string(size) + "\r\n");
}

// Sends back the body as it arrives, and makes the client wait when it doesn't read.
void Echo(const ServerRequest&, const RequestBody& body, const Responder& responder) {
  const ReplyStream reply = responder.Stream(ServerResponse());
  body.OnPiece([body, reply](std::string_view piece, bool last) {
    if (reply.Write(piece) == StreamState::kFull) {
      body.Hold();
      reply.OnRoom([body] { body.Resume(); });
    }
    if (last) {
      reply.End();
    }
  });
}

TEST(RequestBodyTest, ThePiecesComeWhenTheyAreSent) {
  RunningServer server([](HttpServer& http) { http.Post("/echo", Echo); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Post("/echo", "Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n"));
  std::string seen;
  while (seen.find("abc") == std::string::npos) {
    ASSERT_TRUE(client.HasInput(test::kPatience)) << "the first piece is answered: " << seen;
    char byte = 0;
    ASSERT_EQ(::recv(client.GetFd(), &byte, 1, 0), 1);
    seen += byte;
  }
  ASSERT_TRUE(client.Send("2\r\nde\r\n0\r\n\r\n"));
  EXPECT_EQ(client.ReadRest(), "\r\n2\r\nde\r\n0\r\n\r\n");
}

TEST(RequestBodyTest, ABodyIsGivenLeaveWhenItIsWanted) {
  RunningServer server([](HttpServer& http) {
    http.Post("/echo", Echo);
    http.Post("/no", [](const ServerRequest&, const RequestBody&, const Responder& responder) {
      responder.Reply(ServerResponse(403));
    });
  });
  const std::string expect = "Expect: 100-continue\r\nContent-Length: 2\r\n";
  HttpClient client(server.Port());
  const HttpReply leave = client.Ask(Post("/echo", expect));
  EXPECT_EQ(leave.status, 100);
  EXPECT_EQ(client.Ask("ab").body, "ab");
  EXPECT_EQ(HttpClient(server.Port()).Ask(Post("/no", expect)).status, 403)
      << "without a 100 before it";
}

TEST(RequestBodyTest, ARequestWithoutABodyHasOneEmptyPiece) {
  std::atomic<int> calls{0};
  RunningServer server([&calls](HttpServer& http) {
    http.Post("/count",
              [&calls](const ServerRequest&, const RequestBody& body, const Responder& responder) {
                body.OnPiece([&calls, responder](std::string_view piece, bool last) {
                  ++calls;
                  EXPECT_TRUE(piece.empty());
                  EXPECT_TRUE(last);
                  responder.Reply(ServerResponse(204));
                });
              });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Post("/count", "")).status, 204);
  EXPECT_EQ(client.Ask(Post("/count", "Content-Length: 0\r\n")).status, 204);
  EXPECT_EQ(calls, 2);
}

// The client does not read, so the server does not either, and keeps next to nothing.
TEST(RequestBodyTest, AClientThatDoesNotReadHasToWait) {
  constexpr std::size_t kSize = std::size_t{48} * 1024 * 1024;  // more than the sockets hold
  HttpOptions options;
  options.body.max_body_bytes = kSize;
  RunningServer server([](HttpServer& http) { http.Post("/echo", Echo); }, options);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(PostOf("/echo", kSize)));
  std::thread sender([&client] {
    const std::string piece(std::size_t{1024} * 1024, 'x');
    for (std::size_t sent = 0; sent < kSize; sent += piece.size()) {
      EXPECT_TRUE(client.Send(piece));
    }
  });
  std::size_t most_unsent = 0;
  // Waits until the two are stuck: the kernel's buffers are full both ways, and nothing moves.
  EXPECT_TRUE(server.Await([&] {
    bool paused = false;
    server.GetLooper().ForEachConnection([&](Connection* connection) {
      most_unsent = std::max(most_unsent, connection->UnsentBytes());
      paused = connection->Paused();
    });
    return paused;
  }));
  const HttpReply reply = client.ReadReply();
  sender.join();
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(reply.body.size(), kSize);
  EXPECT_LT(most_unsent, std::size_t{2} * 1024 * 1024);
}

TEST(RequestBodyTest, APieceThatIsHeldComesLater) {
  std::optional<RequestBody> held;
  RunningServer server([&held](HttpServer& http) {
    http.Post("/later",
              [&held](const ServerRequest&, const RequestBody& body, const Responder& responder) {
                body.Hold();
                held = body;
                body.OnPiece([responder](std::string_view piece, bool last) {
                  EXPECT_TRUE(last);
                  responder.Reply(ServerResponse().Text(piece));
                });
              });
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(PostOf("/later", 3) + "abc"));
  ASSERT_TRUE(server.Await([&held] { return held.has_value(); }));
  server.Settle();
  EXPECT_FALSE(client.HasInput(std::chrono::milliseconds(0)));
  held->Resume();  // on this thread
  EXPECT_EQ(client.ReadReply().body, "abc");
  held->Resume();  // of a request that has been answered
  EXPECT_EQ(client.Ask(Get("/nothing")).status, 404);
  client.Reset();
  held->Resume();  // of a client that has gone, perhaps
}

TEST(RequestBodyTest, WhatIsThrownWhileItComesIsAnswered) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    http.Post("/picky/{how}", [](const ServerRequest& req, const RequestBody& body,
                                 const Responder& responder) {
      body.OnPiece([how = std::string(req.Parameter("how")), responder](std::string_view, bool) {
        if (how == "refuse") {
          throw HttpError(422, "not this");
        }
        throw std::runtime_error("as it was told");
      });
    });
  });
  HttpClient client(server.Port());
  const HttpReply refused = client.Ask(PostOf("/picky/refuse", 1) + "x");
  EXPECT_EQ(refused.status, 422);
  EXPECT_NE(refused.body.find("not this"), std::string::npos);
  EXPECT_EQ(errors.Text(), "") << "a client's mistake is nothing for the log";
  EXPECT_EQ(client.Ask(PostOf("/picky/break", 1) + "x").status, 500);
  EXPECT_NE(errors.Text().find("as it was told"), std::string::npos);
  EXPECT_EQ(errors.Text().find("dropped"), std::string::npos) << "it has been answered";
}

TEST(RequestBodyTest, WhatIsThrownBehindTheHeadOfTheReplyCutsIt) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    http.Post("/cut",
              [](const ServerRequest&, const RequestBody& body, const Responder& responder) {
                const ReplyStream reply = responder.Stream(ServerResponse().Text("begin,"));
                body.OnPiece([reply](std::string_view piece, bool) {
                  if (piece == "stop") {
                    throw std::runtime_error("as it was told");
                  }
                  reply.Write(piece);
                });
              });
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Post("/cut", "Transfer-Encoding: chunked\r\n") + "2\r\nok\r\n"));
  ASSERT_TRUE(client.HasInput(test::kPatience));  // the response has begun
  ASSERT_TRUE(client.Send("4\r\nstop\r\n"));
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.complete);
  EXPECT_EQ(reply.body, "begin,ok");
}

// It is malformed, and the session itself responds: the handler's Responder has no effect.
TEST(RequestBodyTest, ABodyThatIsNoneIsRefusedForTheHandler) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    http.Post("/take",
              [](const ServerRequest&, const RequestBody& body, const Responder& responder) {
                body.OnPiece([responder](std::string_view, bool) {});
              });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Post("/take", "Transfer-Encoding: chunked\r\n") + "x\r\n").status, 400);
  server.Settle();
  EXPECT_EQ(errors.Text(), "");
}

TEST(RequestBodyTest, AResponderThatIsDroppedInTheMiddleIsA500) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    http.Post("/forget", [](const ServerRequest&, const RequestBody& body, const Responder&) {
      body.OnPiece([](std::string_view, bool) {});
    });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(PostOf("/forget", 1) + "x").status, 500);
  EXPECT_NE(errors.Text().find("dropped without a response"), std::string::npos);
}

}  // namespace
}  // namespace TURTLE_SERVER
