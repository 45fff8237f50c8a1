#include "core/lines_in_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "core/connection.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::Client;
using test::LoopThread;
using test::ManualClock;

constexpr LineTimes kTimes{seconds(60), seconds(10)};

// A loop whose clients get each line back, in brackets. `quit` ends a connection.
class LinesInTimeTest : public ::testing::Test {
 protected:
  // Waits for bytes that are not yet a line.
  void AwaitHalfALine(ConnectionId id, std::string_view half) {
    ASSERT_TRUE(loop_.Await([&] {
      const Connection* connection = loop_.Get().Find(id);
      return connection != nullptr && connection->Read() == half;
    })) << half;
  }

  auto IsThere(ConnectionId id) -> bool {
    return loop_.Ask([&] { return loop_.Get().Find(id) != nullptr; });
  }

  void Pass(Clock::duration time) { clock_.Advance(time, loop_); }

  ManualClock clock_;
  const ConnectionCallbacks callbacks_ =
      LinesInTime(kTimes, [](Connection* client, std::string_view line) {
        if (line == "quit") {
          client->GetLooper()->DeleteConnection(client->GetFd());
          return;
        }
        client->WriteToWriteBuffer("[");
        client->WriteToWriteBuffer(line);
        client->WriteToWriteBuffer("]");
      });
  LoopThread loop_{clock_.Source()};
};

TEST_F(LinesInTimeTest, WholeLinesAreGivenToTheHandler) {
  Client client = loop_.Connect(callbacks_);
  ASSERT_TRUE(client.Send("one\n\ntwo\nthr"));
  EXPECT_EQ(client.Receive(12), "[one][][two]");
  ASSERT_TRUE(client.Send("ee\n"));
  EXPECT_EQ(client.Receive(7), "[three]");
  client.FinishSending();
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.Ended());
}

TEST_F(LinesInTimeTest, ASilentClientGoesWithoutAWord) {
  ConnectionId id{};
  Client client = loop_.Connect(callbacks_, &id);
  Pass(seconds(59));
  EXPECT_TRUE(IsThere(id));
  Pass(seconds(1));
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.Ended());
}

TEST_F(LinesInTimeTest, EachLineBuysAnotherIdleTime) {
  ConnectionId id{};
  Client client = loop_.Connect(callbacks_, &id);
  for (int i = 0; i < 5; ++i) {
    Pass(seconds(50));
    ASSERT_TRUE(client.Send("here\n"));
    ASSERT_EQ(client.Receive(6), "[here]");
  }
  Pass(seconds(59));
  EXPECT_TRUE(IsThere(id));
  Pass(seconds(1));
  EXPECT_EQ(client.ReceiveAll(), "");
}

TEST_F(LinesInTimeTest, AByteNowAndThenBuysNothing) {
  ConnectionId id{};
  Client client = loop_.Connect(callbacks_, &id);
  std::string half;
  for (int i = 0; i < 9; ++i) {
    half += 'x';
    ASSERT_TRUE(client.Send("x"));
    AwaitHalfALine(id, half);
    Pass(seconds(1));
  }
  EXPECT_TRUE(IsThere(id)) << "nine seconds of ten";
  ASSERT_TRUE(client.Send("x"));
  AwaitHalfALine(id, half + 'x');
  Pass(seconds(1));
  EXPECT_EQ(client.ReceiveAll(), "too slow\n");
  EXPECT_TRUE(client.Ended());
}

TEST_F(LinesInTimeTest, ALineHasItsOwnTimeHoweverLongTheClientWasSilent) {
  ConnectionId id{};
  Client client = loop_.Connect(callbacks_, &id);
  Pass(seconds(59));
  ASSERT_TRUE(client.Send("o"));
  AwaitHalfALine(id, "o");
  Pass(seconds(9));
  ASSERT_TRUE(client.Send("ne\n"));
  EXPECT_EQ(client.Receive(5), "[one]");
  Pass(seconds(59));
  EXPECT_TRUE(IsThere(id));
}

// The time of a line begins with its own first byte, not with that of a line before it.
TEST_F(LinesInTimeTest, WhatComesBehindALineIsANewOne) {
  ConnectionId id{};
  Client client = loop_.Connect(callbacks_, &id);
  ASSERT_TRUE(client.Send("on"));
  AwaitHalfALine(id, "on");
  Pass(seconds(9));
  ASSERT_TRUE(client.Send("e\ntw"));
  ASSERT_EQ(client.Receive(5), "[one]");
  AwaitHalfALine(id, "tw");
  Pass(seconds(9));
  EXPECT_TRUE(IsThere(id));
  Pass(seconds(1));
  EXPECT_EQ(client.ReceiveAll(), "too slow\n");
}

TEST_F(LinesInTimeTest, BehindALineThatEndsTheConnectionNothingIsHeard) {
  Client client = loop_.Connect(callbacks_);
  ASSERT_TRUE(client.Send("one\nquit\ntwo\nquit\nthree\n"));
  EXPECT_EQ(client.ReceiveAll(), "[one]");
}

TEST_F(LinesInTimeTest, TheHandlerHearsNothingAfterTheConnectionHasGone) {
  int lines = 0;
  const ConnectionCallbacks callbacks =
      LinesInTime(kTimes, [&](Connection* client, std::string_view) {
        ++lines;
        client->GetLooper()->DeleteConnection(client->GetFd());
      });
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("one\ntwo\nthree\n"));
  client.ReceiveAll();
  loop.Ask([&] { EXPECT_EQ(lines, 1); });
}

TEST_F(LinesInTimeTest, HalfALineAtTheEndIsNone) {
  Client client = loop_.Connect(callbacks_);
  ASSERT_TRUE(client.Send("one\ntwo"));
  client.FinishSending();
  EXPECT_EQ(client.ReceiveAll(), "[one]");
  EXPECT_TRUE(client.Ended());
}

TEST_F(LinesInTimeTest, TheStateIsTheHandlersOwn) {
  struct Count : ConnectionState {
    int lines = 0;
  };
  const ConnectionCallbacks callbacks =
      LinesInTime(kTimes, [](Connection* client, std::string_view) {
        if (client->State() == nullptr) {
          client->SetState(std::make_unique<Count>());
        }
        const int lines = ++static_cast<Count*>(client->State())->lines;
        client->WriteToWriteBuffer(std::to_string(lines));
      });
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("a\nb\nhalf of"));
  EXPECT_EQ(client.Receive(2), "12");
  ASSERT_TRUE(client.Send(" it\n"));
  EXPECT_EQ(client.Receive(1), "3");
}

}  // namespace
}  // namespace TURTLE_SERVER
