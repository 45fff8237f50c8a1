// The time of a client whose channel does not open: a handshake that drips, or stops.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "http/response.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/loop_thread.h"
#include "support/rot13_channel.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::HttpClient;
using test::LineChannel;
using test::Rot13;

constexpr std::string_view kHello = LineChannel::kHello;

// The times of SECURITY.md.
auto Times() -> HttpOptions {
  HttpOptions options;
  options.head_timeout = seconds(10);
  options.idle_timeout = seconds(60);
  return options;
}

// A server whose clients open a channel by a line, and whose clock stands still.
class ChannelDeadlineTest : public testing::Test {
 protected:
  ChannelDeadlineTest()
      : server_(
            [](Looper& looper, LoopHttp& http) {
              http.Mount("/", test::Answering([](Exchange& exchange) {
                           exchange.Reply(TextResponse(200, "hello\n"));
                         })(looper));
            },
            Times(),
            [this](Connection& connection, LoopHttp& http) {
              if (!shared_) {
                shared_ = std::make_unique<Http1Shared>(http);
              }
              connection.SetChannel(std::make_unique<LineChannel>());
              return std::make_unique<HttpSession>(connection, *shared_);
            }),
        client_(server_.Port()) {
    test::LoopThread& loop = server_.Loop();
    EXPECT_TRUE(loop.Await([&loop] { return loop.Get().ConnectionCount() == 1; }));
  }

  // Sends bytes that the loop takes before the clock is turned.
  void Send(std::string_view bytes) {
    ASSERT_TRUE(client_.Send(bytes));
    server_.Loop().RunRounds(3);
  }

  auto IsConnected() -> bool {
    Looper& looper = server_.Loop().Get();
    return server_.Loop().Ask([&looper] { return looper.ConnectionCount(); }) == 1;
  }

  // Expects that the connection was reset, without a byte.
  void ExpectReset() {
    EXPECT_EQ(client_.ReadRest(), "");
    EXPECT_TRUE(client_.WasReset());
  }

  std::unique_ptr<Http1Shared> shared_;
  test::ClockedServer server_;
  HttpClient client_;
};

TEST_F(ChannelDeadlineTest, AHandshakeThatDripsEndsWithTheTimeOfAHead) {
  Send(kHello.substr(0, 1));
  server_.Advance(seconds(6));
  Send(kHello.substr(1, 1));
  server_.Advance(seconds(3));
  EXPECT_TRUE(IsConnected());
  Send(kHello.substr(2, 1));
  server_.Advance(seconds(2));
  ExpectReset();
}

TEST_F(ChannelDeadlineTest, AClientThatDoesNotBeginAHandshakeHasTheTimeOfAHead) {
  server_.Advance(seconds(9));
  EXPECT_TRUE(IsConnected());
  server_.Advance(seconds(2));
  ExpectReset();
}

TEST_F(ChannelDeadlineTest, TheIdleTimeBeginsWhenTheChannelHasOpened) {
  server_.Advance(seconds(9));
  Send(kHello);
  server_.Advance(seconds(59));
  EXPECT_TRUE(IsConnected());
  server_.Advance(seconds(2));
  EXPECT_EQ(client_.ReadRest(), std::string(LineChannel::kWelcome) + "end\n");
  EXPECT_TRUE(client_.Ended());
}

TEST_F(ChannelDeadlineTest, APartOfARecordDoesNotExtendTheIdleTime) {
  Send(kHello);
  server_.Advance(seconds(50));
  Send("x");
  server_.Advance(seconds(9));
  EXPECT_TRUE(IsConnected());
  server_.Advance(seconds(2));
  EXPECT_EQ(client_.ReadRest(), std::string(LineChannel::kWelcome) + "end\n");
}

TEST_F(ChannelDeadlineTest, TheIdleTimeBeginsAgainAfterARequest) {
  Send(kHello);
  server_.Advance(seconds(50));
  Send(Rot13("GET / HTTP/1.1\r\nHost: t\r\n\r\n"));
  server_.Advance(seconds(59));
  EXPECT_TRUE(IsConnected());
  server_.Advance(seconds(2));
  EXPECT_EQ(client_.ReadRest().substr(0, 21), "welcome\n" + Rot13("HTTP/1.1 200 "));
}

TEST_F(ChannelDeadlineTest, AHeadBehindTheHandshakeHasItsOwnTime) {
  server_.Advance(seconds(9));
  Send(std::string(kHello) + Rot13("GET / HTTP/1.1\r\n"));
  server_.Advance(seconds(9));
  EXPECT_TRUE(IsConnected());
  server_.Advance(seconds(2));
  EXPECT_EQ(client_.ReadRest().substr(0, 21), "welcome\n" + Rot13("HTTP/1.1 408 "));
}

}  // namespace
}  // namespace TURTLE_SERVER
