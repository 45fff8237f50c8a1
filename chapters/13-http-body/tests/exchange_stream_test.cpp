// Responses that are sent while they are made.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/narrow_pair.h"
#include "support/running_server.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::Waiting;

constexpr std::size_t kLarge = std::size_t{24} * 1024 * 1024;  // more than two sockets hold

auto Head() -> Response { return Response(200).Set("Content-Type", "text/plain"); }

auto GetBy10(const std::string& fields = {}) -> std::string {
  return "GET / HTTP/1.0\r\n" + fields + "\r\n";
}

// A handler whose path says what to do.
void Stream(Exchange& exchange) {
  const std::string path(exchange.GetRequest().uri.Path());
  if (path == "/length") {
    exchange.BeginReply(Head(), 10);
  } else if (path == "/nothing") {
    exchange.BeginReply(Response(204));
  } else if (path == "/reset") {
    exchange.BeginReply(Response(205));
  } else {
    exchange.BeginReply(Head());
  }
  exchange.Write("01234");
  exchange.Write("");  // as a chunk, this would be the end
  exchange.Write("56789");
  exchange.End();
}

TEST(ExchangeStream, ByChunks) {
  RunningServer server(Stream);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/"));
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "chunked");
  EXPECT_EQ(reply.Field("Content-Length"), "");
  EXPECT_EQ(reply.body, "0123456789");
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(client.Ask(Get("/length")).body, "0123456789");
}

TEST(ExchangeStream, ResetContentIsEmptyAndSaysSo) {
  RunningServer server(Stream);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/reset"));
  EXPECT_EQ(reply.status, 205);
  EXPECT_EQ(reply.Field("Content-Length"), "0");
  EXPECT_EQ(client.Ask(Get("/length")).body, "0123456789");  // there was no byte in between
}

TEST(ExchangeStream, ByLength) {
  RunningServer server(Stream);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/length"));
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "");
  EXPECT_EQ(reply.Field("Content-Length"), "10");
  EXPECT_EQ(reply.body, "0123456789");
  EXPECT_EQ(client.Ask(Get("/")).body, "0123456789");
}

TEST(ExchangeStream, ByTheEndOfTheConnectionForHttp10) {
  RunningServer server(Stream);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(GetBy10("Connection: keep-alive\r\n"));
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "");
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_EQ(reply.body, "0123456789");
  EXPECT_TRUE(client.Ended());
}

TEST(ExchangeStream, NoBodyWhereThereMustBeNone) {
  RunningServer server(Stream);
  HttpClient client(server.Port());
  for (const char* path : {"/", "/length"}) {
    const std::string request = "HEAD " + std::string(path) + " HTTP/1.1\r\nHost: t\r\n\r\n";
    EXPECT_EQ(client.Ask(request, Asked::kHead).status, 200);
  }
  const HttpReply nothing = client.Ask(Get("/nothing"));
  EXPECT_EQ(nothing.status, 204);
  EXPECT_EQ(nothing.Field("Transfer-Encoding"), "");
  EXPECT_EQ(client.Ask(Get("/")).body, "0123456789");  // there was no byte in between
}

TEST(ExchangeStream, EveryPieceIsOnItsWayWhenItIsWritten) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/") + Get("/")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Ask([&] { waiting.Last()->BeginReply(Head()); });
  EXPECT_TRUE(client.HasInput(test::kPatience));  // the head alone
  server.Ask([&] { waiting.Last()->Write("0123"); });
  server.Settle();
  server.Ask([&] {
    EXPECT_EQ(waiting.Last()->GetConnection().UnsentBytes(), 0U);
    waiting.Last()->Write("4567");
    waiting.Last()->End();
  });
  EXPECT_EQ(client.ReadReply().body, "01234567");
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));  // the second request
  server.Ask([&] { waiting.Last()->Reply(TextResponse(200, "second")); });
  EXPECT_EQ(client.ReadReply().body, "second");
}

TEST(ExchangeStream, WhatIsBeyondThePromiseIsDropped) {
  RunningServer server([](Exchange& exchange) {
    exchange.BeginReply(Head(), 4);
    exchange.Write("012345");
    exchange.Write("6789");
    exchange.End();
    exchange.Write("after the end");
    exchange.End();
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).body, "0123");
  EXPECT_EQ(client.Ask(Get("/")).body, "0123");
}

TEST(ExchangeStream, APromiseThatIsNotKeptCutsTheConnection) {
  const test::CapturedStderr captured;
  RunningServer server([](Exchange& exchange) {
    exchange.BeginReply(Head(), 10);
    exchange.Write("0123");
    exchange.End();
  });
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/") + Get("/"));
  EXPECT_EQ(reply.body, "0123");
  EXPECT_FALSE(reply.complete);
  EXPECT_TRUE(client.IsClosedByServer());
  EXPECT_NE(captured.Text().find("6 bytes early"), std::string::npos);
}

TEST(ExchangeStream, AbortBeforeTheHeadIsAnErrorPage) {
  RunningServer server([](Exchange& exchange) { exchange.Abort(502, "The other one is silent."); });
  HttpClient client(server.Port());
  for (int i = 0; i < 2; ++i) {
    const HttpReply reply = client.Ask(Get("/"));
    EXPECT_EQ(reply.status, 502);
    EXPECT_NE(reply.body.find("The other one is silent."), std::string::npos);
  }
}

TEST(ExchangeStream, AbortLaterCanNotBeTakenForTheEnd) {
  RunningServer server([](Exchange& exchange) {
    exchange.BeginReply(Head());
    exchange.Write("01234");
    exchange.Abort(502, "The other one is silent.");
    exchange.Write("56789");
    exchange.End();
  });
  HttpClient chunked(server.Port());
  const HttpReply part = chunked.Ask(Get("/") + Get("/"));
  EXPECT_EQ(part.status, 200);
  EXPECT_EQ(part.body, "01234");
  EXPECT_FALSE(part.complete);
  EXPECT_TRUE(chunked.IsClosedByServer());
  HttpClient until_close(server.Port());
  EXPECT_FALSE(until_close.Ask(GetBy10()).complete);
  EXPECT_TRUE(until_close.WasReset());
}

TEST(ExchangeStream, AHandlerThatThrowsInTheMiddleCutsTheConnection) {
  const test::CapturedStderr captured;
  RunningServer server([](Exchange& exchange) {
    exchange.BeginReply(Head());
    exchange.Write("01234");
    throw std::runtime_error("lost the thread");
  });
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/"));
  EXPECT_EQ(reply.body, "01234");
  EXPECT_FALSE(reply.complete);
}

// A slow reader makes the writer wait; the bytes between them are limited.
TEST(ExchangeStream, TheWriterWaitsForTheReader) {
  std::size_t most_unsent = 0;  // the loop's
  std::size_t waits = 0;
  constexpr std::size_t kPiece = std::size_t{64} * 1024;
  RunningServer server([&](Exchange& exchange) {
    exchange.BeginReply(Head());
    const auto write = [&, left = std::make_shared<std::size_t>(kLarge)] {
      while (*left != 0 && exchange.CanWrite()) {
        exchange.Write(std::string(kPiece, 'x'));
        *left -= kPiece;
        most_unsent = std::max(most_unsent, exchange.GetConnection().UnsentBytes());
      }
      if (*left == 0) {
        exchange.End();
      } else {
        ++waits;
      }
    };
    exchange.OnRoom(write);
    write();
  });
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/"));
  EXPECT_TRUE(reply.complete);
  EXPECT_TRUE(reply.body == std::string(kLarge, 'x'));
  server.Ask([&] {
    EXPECT_LE(most_unsent, Connection::kHighWater + kPiece + 100);
    EXPECT_GT(waits, 0U);
  });
}

TEST(ExchangeStream, PartsOfFiles) {
  const std::string content = test::Pattern(200'000);
  RunningServer server([&](Exchange& exchange) {
    const FileSlice file = OwnFileSlice(test::MakeFile(content), 0, content.size());
    exchange.BeginReply(Head());
    exchange.Write("[");
    exchange.Write(file);
    exchange.Write(FileSlice{file.fd, 1000, 5, file.pin});
    exchange.Write("]");
    exchange.End();
  });
  HttpClient client(server.Port());
  const std::string expected = "[" + content + content.substr(1000, 5) + "]";
  EXPECT_EQ(client.Ask(Get("/")).body.compare(expected), 0);
}

// Both directions at once: a body is sent back as it arrives, whichever side is slow.
TEST(ExchangeStream, AnEchoOfAnUpload) {
  HttpOptions options;
  options.body.max_body_bytes = kLarge;
  RunningServer server(
      [](Exchange& exchange) {
        exchange.BeginReply(Head());
        exchange.OnRoom([&exchange] { exchange.HoldBody(false); });
        exchange.OnBody([&exchange](std::string_view piece, bool last) {
          exchange.Write(piece);
          if (last) {
            exchange.End();
          } else if (!exchange.CanWrite()) {
            exchange.HoldBody(true);
          }
        });
      },
      options);
  HttpClient client(server.Port());
  const std::string content = test::Pattern(kLarge);
  std::thread sender([&] {
    EXPECT_TRUE(client.Send(
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(kLarge) + "\r\n\r\n"));
    EXPECT_TRUE(client.Send(content));
  });
  const HttpReply reply = client.ReadReply();
  sender.join();
  EXPECT_TRUE(reply.complete && reply.body == content);
  // When the head was sent, nobody knew whether that much would ever be read.
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
}

}  // namespace
}  // namespace TURTLE_SERVER
