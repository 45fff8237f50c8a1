// Responses that are written piece by piece, from anywhere, to clients that may be slow or gone.
#include "web/reply_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/event_channel.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

// Opens a stream for each request to "/"; on the loop's thread, or by RunningServer::Ask().
struct Streams {
  explicit Streams(HttpServer& http) {
    http.Get("/", [this](const ServerRequest&, const Responder& responder) {
      all.push_back(responder.Stream(std::move(ServerResponse().Text("begin,"))));
    });
    http.Get("/empty/{status}", [this](const ServerRequest& req, const Responder& responder) {
      const int status = std::stoi(std::string(req.Parameter("status")));
      all.push_back(responder.Stream(std::move(ServerResponse().Status(status))));
    });
    http.Get("/now", [](const ServerRequest&, ServerResponse& res) { res.Text("now"); });
  }

  std::vector<ReplyStream> all;
};

class ReplyStreamTest : public testing::Test {
 protected:
  // Returns the stream of the next request.
  auto Take() -> ReplyStream {
    EXPECT_TRUE(server_.Await([this] { return !streams_->all.empty(); }));
    return server_.Ask([this] { return std::exchange(streams_->all, {}).front(); });
  }

  std::optional<Streams> streams_;
  RunningServer server_{[this](HttpServer& http) { streams_.emplace(http); }};
};

TEST_F(ReplyStreamTest, PiecesComeInOrderAndAsChunks) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/") + Get("/now")));
  const ReplyStream stream = Take();
  std::string all = "begin,";
  for (int i = 0; i < 100; ++i) {
    const std::string piece = std::to_string(i) + ",";
    EXPECT_NE(stream.Write(piece), StreamState::kGone);
    all += piece;
  }
  stream.End();
  stream.End();
  EXPECT_EQ(stream.Write("more"), StreamState::kGone);
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, all);
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "chunked");
  EXPECT_EQ(client.ReadReply().body, "now") << "the connection goes on";
}

TEST_F(ReplyStreamTest, AStreamThatIsDroppedIsCutWithoutALastChunk) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  {
    const ReplyStream stream = Take();
    EXPECT_EQ(stream.Write("a part"), StreamState::kOpen);
  }
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "begin,a part");
  EXPECT_FALSE(reply.complete);
  EXPECT_EQ(client.ReadRest(), "") << "no second status";
}

TEST_F(ReplyStreamTest, AClientOf10SeesTheEnd) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send("GET / HTTP/1.0\r\n\r\n"));
  Take().End();
  const HttpReply reply = client.ReadReply();
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(reply.body, "begin,");
}

TEST_F(ReplyStreamTest, WhatHasNoBodyIsNotWaitedFor) {
  HttpClient client(server_.Port());
  for (const int status : {204, 205, 304}) {
    const HttpReply reply = client.Ask(Get("/empty/" + std::to_string(status)));
    EXPECT_EQ(reply.status, status);
    EXPECT_EQ(client.Ask(Get("/now")).body, "now") << status;
    EXPECT_EQ(Take().State(), StreamState::kGone) << status;
  }
}

TEST_F(ReplyStreamTest, HeadDoesNotWaitForTheBody) {
  HttpClient client(server_.Port());
  const HttpReply reply = client.Ask("HEAD / HTTP/1.1\r\nHost: t\r\n\r\n", test::Asked::kHead);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(client.Ask(Get("/now")).body, "now");
  const ReplyStream stream = Take();
  EXPECT_EQ(stream.State(), StreamState::kGone);
}

TEST_F(ReplyStreamTest, TheEndOfTheClientIsTold) {
  std::atomic<bool> told{false};
  std::optional<ReplyStream> stream;
  const std::string large(std::size_t{1024} * 1024, 'x');
  std::function<void()> write_on;  // until the kernel has enough of it, which may take a while
  write_on = [&] {
    told = stream->Write(large) == StreamState::kGone;
    if (!told) {
      stream->OnRoom(write_on);
    }
  };
  {
    HttpClient client(server_.Port());
    ASSERT_TRUE(client.Send(Get("/")));
    stream = Take();
    stream->OnRoom(write_on);
    ASSERT_TRUE(server_.Await([&stream] { return stream->State() == StreamState::kFull; }));
    client.Reset();
  }
  ASSERT_TRUE(server_.Await([&told] { return told.load(); }));
  EXPECT_EQ(stream->Write("x"), StreamState::kGone);
  told = false;
  stream->OnRoom([&told] { told = true; });
  EXPECT_TRUE(server_.Await([&told] { return told.load(); })) << "also when it has gone before";
}

// A producer that writes at the client's pace, and holds its stream itself.
TEST_F(ReplyStreamTest, AProducerThatWaitsForRoomSendsAllAndKeepsLittle) {
  constexpr int kPieces = 200;
  const std::string piece(std::size_t{100} * 1024, 'x');
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  int written = 0;
  std::size_t most_unsent = 0;
  const auto produce = std::make_shared<std::function<void(const ReplyStream&)>>();
  *produce = [&, weak = std::weak_ptr(produce)](const ReplyStream& stream) {
    server_.GetLooper().ForEachConnection([&](Connection* connection) {
      most_unsent = std::max(most_unsent, connection->UnsentBytes());
    });
    if (written == kPieces) {
      stream.End();
      return;
    }
    ++written;
    stream.Write(piece);
    stream.OnRoom([stream, self = weak.lock()] { (*self)(stream); });
  };
  ASSERT_TRUE(server_.GetLooper().Post([&, stream = Take()] { (*produce)(stream); }));
  const HttpReply reply = client.ReadReply();
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(reply.body.size(), kPieces * piece.size() + 6);
  EXPECT_LT(most_unsent, std::size_t{1024} * 1024);
}

TEST_F(ReplyStreamTest, AnExceptionInAProducerCutsTheReply) {
  const test::CapturedStderr errors;
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  const ReplyStream stream = Take();
  stream.OnRoom([] { throw std::runtime_error("as it was told"); });
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.complete);
  EXPECT_NE(errors.Text().find("as it was told"), std::string::npos);
  EXPECT_EQ(HttpClient(server_.Port()).Ask(Get("/now")).body, "now") << "the loop lives";
}

TEST_F(ReplyStreamTest, AStreamThatHasEndedLeavesTheNextRequestAlone) {
  const test::CapturedStderr errors;
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  const ReplyStream ended = Take();
  ended.End();
  EXPECT_TRUE(client.ReadReply().complete);
  ASSERT_TRUE(client.Send(Get("/")));
  const ReplyStream next = Take();
  ended.OnRoom([] { throw std::runtime_error("as it was told"); });
  ended.OnRoom(nullptr);
  server_.Settle();
  next.End();
  EXPECT_TRUE(client.ReadReply().complete);
  EXPECT_NE(errors.Text().find("stream threw: as it was told"), std::string::npos);
}

// A relay: when one client leaves, the other learns of it.
TEST(ReplyStreamEndTest, AStreamMayBeAskedFromWithinAnothersCallback) {
  std::optional<Streams> streams;
  std::vector<ReplyStream> kept;
  {
    RunningServer server([&](HttpServer& http) { streams.emplace(http); });
    HttpClient one(server.Port());
    HttpClient two(server.Port());
    ASSERT_TRUE(one.Send(Get("/")) && two.Send(Get("/")));
    ASSERT_TRUE(server.Await([&] { return streams->all.size() == 2; }));
    kept = server.Ask([&] { return std::exchange(streams->all, {}); });
    server.Get().Stop();
    one.Reset();
    two.Reset();
  }
  int told = 0;
  kept[0].OnRoom([&] {
    kept[1].OnRoom([&] {
      ++told;
      kept[0].OnRoom([&] { ++told; });  // whose callback is being called
    });
  });
  EXPECT_EQ(told, 1);
}

TEST_F(ReplyStreamTest, ManyThreadsMayWrite) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  const ReplyStream stream = Take();
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([stream] {
      for (int piece = 0; piece < 100; ++piece) {
        stream.Write("0123456789");
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  stream.End();
  EXPECT_EQ(client.ReadReply().body.size(), 4006U);
}

TEST(ReplyStreamEndTest, IsHarmlessWhenTheServerHasEnded) {
  std::vector<ReplyStream> kept;
  {
    RunningServer server([&](HttpServer& http) {
      http.Get("/", [&](const ServerRequest&, const Responder& responder) {
        kept.push_back(responder.Stream(ServerResponse()));
        EXPECT_FALSE(responder.Reply(ServerResponse())) << "it has been answered";
        EXPECT_EQ(responder.Stream(ServerResponse()).State(), StreamState::kGone);
      });
    });
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(Get("/")));
    ASSERT_TRUE(server.Await([&] { return !kept.empty(); }));
    client.Reset();
  }
  EXPECT_EQ(kept.front().Write("x"), StreamState::kGone);
  kept.front().End();
}

// A producer that waits for this call would hang the program's exit.
TEST(ReplyStreamEndTest, WhoWaitsForRoomHearsOfTheServersEnd) {
  std::optional<Streams> streams;
  std::optional<ReplyStream> stream;
  std::atomic<int> told{0};
  {
    HttpOptions options;
    RunningServer server([&](HttpServer& http) { streams.emplace(http); }, options);
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(Get("/")));
    ASSERT_TRUE(server.Await([&] { return !streams->all.empty(); }));
    stream = server.Ask([&] { return std::exchange(streams->all, {}).front(); });
    const std::string large(std::size_t{1024} * 1024, 'x');
    do {
      stream->Write(large);
      server.Settle();
    } while (stream->State() != StreamState::kFull);
    stream->OnRoom([&told] { ++told; });
    server.Settle();
    EXPECT_EQ(told, 0);
    server.Get().Stop();
    client.Reset();
  }
  EXPECT_EQ(told, 1);
  stream->OnRoom([&] {
    ++told;
    stream->OnRoom([&told] { ++told; });
  });
  EXPECT_EQ(told, 2) << "though the loop has ended";
  ReplyStream().OnRoom([&told] { ++told; });
  EXPECT_EQ(told, 3) << "though it never was a stream";
}

TEST(EventChannelTest, EventsArriveAsTheyAreSent) {
  std::optional<EventChannel> channel;
  RunningServer server([&](HttpServer& http) {
    http.Get("/events",
             [&](const ServerRequest&, const Responder& responder) { channel.emplace(responder); });
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/events")));
  ASSERT_TRUE(server.Await([&] { return channel.has_value(); }));
  ServerEvent event;
  event.data = "one\ntwo";
  EXPECT_NE(channel->Send(event), StreamState::kGone);
  EXPECT_NE(channel->Comment(), StreamState::kGone);
  channel->End();
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.Field("Content-Type"), "text/event-stream");
  EXPECT_EQ(reply.Field("Cache-Control"), "no-store");
  EXPECT_EQ(reply.body.substr(0, 21), "data: one\ndata: two\n\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
