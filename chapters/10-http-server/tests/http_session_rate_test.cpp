// Clients that read their responses slowly, on a clock that only the test turns.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "core/tcp.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::Answering;
using test::ClockedServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::kPatience;

constexpr std::size_t kLarge = std::size_t{24} * 1024 * 1024;  // more than two sockets hold
constexpr std::size_t kMedium = std::size_t{192} * 1024;       // not enough to pause it

// A server whose responses have `size` bytes.
class Sized : public ClockedServer {
 public:
  explicit Sized(std::size_t size)
      : ClockedServer([size](Looper& looper, LoopHttp& http) {
          http.Mount("/", Answering([text = std::string(size, 'x')](Exchange& exchange) {
                       exchange.Reply(TextResponse(200, text));
                     })(looper));
        }) {}

  auto Connections() -> std::size_t { return Loop().Get().ConnectionCount(); }

  // Returns the server's end of the only connection.
  auto Fd() -> int {
    int fd = -1;
    Loop().Ask(
        [&] { Loop().Get().ForEachConnection([&](Connection* one) { fd = one->GetFd(); }); });
    return fd;
  }
};

// Makes both kernels keep few bytes for a client and its server.
void MakeNarrow(Sized& server, HttpClient& client) {
  const int bytes = 16 * 1024;
  ::setsockopt(client.GetFd(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  EXPECT_TRUE(server.Loop().Await([&] { return server.Connections() == 1; }));
  test::ShrinkSendBuffer(server.Fd());
}

// Reads a few of the waiting bytes. @return how many; 0: the end, or nothing came.
auto Sip(HttpClient& client) -> std::size_t {
  std::array<char, 16384> bytes;
  if (!test::AwaitReady(client.GetFd(), POLLIN)) {
    return 0;
  }
  const ssize_t count = ::recv(client.GetFd(), bytes.data(), bytes.size(), 0);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

TEST(HttpSessionRate, AClientThatReadsNothingIsCutOff) {
  Sized server(kLarge);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(client.HasInput(kPatience));
  server.Advance(HttpOptions().write_timeout - seconds(1));
  EXPECT_EQ(server.Connections(), 1U);
  for (int i = 0; i < 4; ++i) {
    server.Advance(HttpOptions().write_timeout);
  }
  EXPECT_EQ(server.Connections(), 0U);
  EXPECT_LT(client.ReadRest().size(), kLarge);
  EXPECT_TRUE(client.WasReset()) << "its part must not be taken for all";
}

// The loop, not the session, sends the rest of a connection that closes. It used to apply its own
// timeout to that.
TEST(HttpSessionRate, TheLastReplyHasTheSamePatience) {
  Sized server(kLarge);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nHost: turtle\r\nConnection: close\r\n\r\n"));
  ASSERT_TRUE(client.HasInput(kPatience));
  for (seconds waited(1); waited < HttpOptions().write_timeout; ++waited) {
    server.Advance(seconds(1));
  }
  EXPECT_EQ(server.Connections(), 1U);
  for (int i = 0; i < 4; ++i) {
    server.Advance(HttpOptions().write_timeout);
  }
  EXPECT_EQ(server.Connections(), 0U);
  EXPECT_LT(client.ReadRest().size(), kLarge);
  EXPECT_TRUE(client.WasReset());
}

// The deadline used to depend on the last input of either direction.
TEST(HttpSessionRate, WhatItSendsMeanwhileGivesItNoTime) {
  Sized server(kMedium);
  HttpClient client(server.Port());
  MakeNarrow(server, client);
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(client.HasInput(kPatience));
  for (int i = 0; i < 7; ++i) {
    client.Send("\r\n");  // this many empty lines are accepted before a request
    server.Advance(HttpOptions().write_timeout * 2 / 3);
  }
  EXPECT_EQ(server.Connections(), 0U);
}

// The server's socket reports room when a third of it is free. Until then such a client used to
// look dead.
TEST(HttpSessionRate, AClientThatReadsALittleAllTheTimeGetsAll) {
  constexpr std::uint32_t kSip = 64 * 1024;
  Sized server(kLarge);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(client.HasInput(kPatience));
  const int fd = server.Fd();
  std::size_t read = 0;
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t before = AcknowledgedBytes(fd);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (AcknowledgedBytes(fd) - before < kSip && std::chrono::steady_clock::now() < end) {
      read += Sip(client);
    }
    server.Advance(HttpOptions().write_timeout - seconds(1));
    ASSERT_EQ(server.Connections(), 1U) << "after " << read << " bytes";
  }
  bool more = true;
  while (more && read < kLarge) {
    const std::size_t sip = Sip(client);
    more = sip != 0;
    read += sip;
  }
  EXPECT_GE(read, kLarge);
}

TEST(HttpSessionRate, AReplyThatWasReadLeavesAnIdleConnection) {
  Sized server(5);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).body, "xxxxx");
  server.Advance(HttpOptions().write_timeout);
  server.Advance(HttpOptions().idle_timeout - HttpOptions().write_timeout - seconds(1));
  EXPECT_EQ(client.Ask(Get("/")).body, "xxxxx");
  server.Advance(HttpOptions().idle_timeout);
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(HttpSessionRate, TheIdleTimeBeginsWhenALargeReplyWasRead) {
  Sized server(kLarge);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  server.Loop().RunRounds(2);
  server.Advance(HttpOptions().write_timeout - seconds(1));
  EXPECT_EQ(client.ReadReply().body.size(), kLarge);
  server.Advance(HttpOptions().idle_timeout - seconds(1));
  EXPECT_EQ(server.Connections(), 1U);
  server.Advance(seconds(1));
  EXPECT_TRUE(client.IsClosedByServer());
}

// There is no other way to write "never", so it must not be in the past.
TEST(HttpSessionRate, NoTimeLimitIsNoTimeOut) {
  HttpOptions options;
  options.head_timeout = std::chrono::milliseconds::max();
  options.idle_timeout = std::chrono::milliseconds::max();
  options.write_timeout = std::chrono::milliseconds::max();
  ClockedServer server(
      [](Looper& looper, LoopHttp& http) {
        http.Mount("/", Answering([](Exchange& exchange) {
                     exchange.Reply(TextResponse(200, "hello"));
                   })(looper));
      },
      options);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).body, "hello");
  server.Advance(std::chrono::hours(24 * 365));
  EXPECT_EQ(client.Ask(Get("/")).body, "hello");
}

}  // namespace
}  // namespace TURTLE_SERVER
