// How a UDP server handles failing calls. The program of `turtle serve` has no UDP, so this does
// for these two calls what tests/faults does for the others.
#ifdef __linux__

#include "support/udp_faults.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "support/captured_stderr.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"
#include "support/udp_client.h"
#include "udp/udp_server.h"

namespace TURTLE_SERVER {
namespace {

using test::CallFaults;
using test::receive_faults;
using test::receive_slots;
using test::send_faults;

constexpr int kForEver = 1'000'000'000;

// An echo server on a loop whose clock stands still.
class UdpFaults : public testing::Test {
 protected:
  UdpFaults() : loop_(clock_.Source()), server_(loop_.Get(), NetAddress("127.0.0.1", 0)) {
    receive_faults.Pass();
    send_faults.Pass();
    loop_.Ask([this] {
      server_.OnDatagram([this](const Datagram& asked) { server_.Reply(asked, asked.payload); })
          .Start();
    });
  }

  ~UdpFaults() override {
    receive_faults.Pass();
    send_faults.Pass();
    loop_.Ask([this] { server_.Stop(); });
  }

  [[nodiscard]] auto Figures() -> UdpFigures {
    return loop_.Ask([this] { return server_.Figures(); });
  }

  // Sends `count` datagrams that are received in one round.
  void SendTogether(test::UdpClient& client, int count) {
    loop_.WhileItStandsStill([&] {
      for (int i = 0; i < count; ++i) {
        ASSERT_TRUE(client.Send(std::to_string(i)));
      }
    });
  }

  static void ExpectAll(test::UdpClient& client, int count) {
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(client.Receive(), std::to_string(i));
    }
  }

  const test::CapturedStderr log_;
  test::ManualClock clock_;
  test::LoopThread loop_;
  UdpServer server_;
};

// To check again for more would be a third call: the poller knows.
TEST_F(UdpFaults, ALoneDatagramIsOneCallInAndOneOut) {
  test::UdpClient client(server_.LocalAddress());
  for (int i = 0; i < 10; ++i) {
    const int received = receive_faults.Calls();
    const int sent = send_faults.Calls();
    ASSERT_EQ(client.Ask("hello"), "hello");
    EXPECT_EQ(receive_faults.Calls() - received, 1);
    EXPECT_EQ(send_faults.Calls() - sent, 1);
  }
}

TEST_F(UdpFaults, ALoneDatagramDoesNotPayForAWholeBatch) {
  test::UdpClient client(server_.LocalAddress());
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(client.Ask("hello"), "hello");
    EXPECT_LE(receive_slots, 16U);
  }
}

TEST_F(UdpFaults, ManyAfterFewComeInOneRoundAndThenByOneCall) {
  test::UdpClient client(server_.LocalAddress());
  ASSERT_EQ(client.Ask("hello"), "hello");
  constexpr int kWhole = 64;  // UdpOptions::batch
  for (const int most : {2, 1}) {
    const int received = receive_faults.Calls();
    SendTogether(client, kWhole);
    ExpectAll(client, kWhole);
    EXPECT_LE(receive_faults.Calls() - received, most);
  }
  ASSERT_EQ(client.Ask("hello"), "hello");
  ASSERT_EQ(client.Ask("hello"), "hello");
  EXPECT_LE(receive_slots, 16U) << "it has fallen again";
}

// Exactly as many as were requested, one more, and one less.
TEST_F(UdpFaults, NumbersAroundTheFirstQuestionComeWhole) {
  test::UdpClient client(server_.LocalAddress());
  std::uint64_t all = 0;
  for (const int count : {15, 1, 16, 1, 17, 1, 31, 32, 33, 1, 63, 1, 64, 1, 65, 100}) {
    SendTogether(client, count);
    ExpectAll(client, count);
    all += static_cast<std::uint64_t>(count);
    EXPECT_EQ(Figures().received, all);
  }
}

TEST_F(UdpFaults, OneFailureToReceiveCostsNoDatagram) {
  test::UdpClient client(server_.LocalAddress());
  std::uint64_t failures = 0;
  for (const int error : {ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENONET, EPROTO, ENOPROTOOPT,
                          EMSGSIZE, ENOMEM, ENOBUFS, EPERM}) {
    receive_faults.Fail(error);
    EXPECT_EQ(client.Ask("hello"), "hello") << error;
    EXPECT_EQ(Figures().errors, ++failures) << error;
  }
  EXPECT_EQ(log_.Text(), "") << "the clock stands still, so nothing has rested";
}

// A wrong checksum, or another process with the same socket that was faster.
TEST_F(UdpFaults, ReadyForNothingIsNoError) {
  test::UdpClient client(server_.LocalAddress());
  receive_faults.Fail(EAGAIN, 3);
  EXPECT_EQ(client.Ask("hello"), "hello");
  EXPECT_EQ(Figures().errors, 0U);
}

TEST_F(UdpFaults, InterruptedCallsAreRepeated) {
  test::UdpClient client(server_.LocalAddress());
  receive_faults.Fail(EINTR, 2);
  send_faults.Fail(EINTR, 2);
  EXPECT_EQ(client.Ask("hello"), "hello");
  EXPECT_EQ(Figures().errors + Figures().failed, 0U);
}

TEST_F(UdpFaults, WhatLastsDoesNotSpinAndEndsAtItsTime) {
  for (const int error : {ENOMEM, EACCES, EINVAL}) {
    test::UdpClient client(server_.LocalAddress());
    const std::uint64_t failures = Figures().errors;
    receive_faults.Fail(error, kForEver);
    ASSERT_TRUE(client.Send("hello"));
    ASSERT_TRUE(loop_.Await([&] { return server_.Figures().errors > failures; }));
    const int calls = receive_faults.Calls();
    loop_.RunRounds(50);
    EXPECT_EQ(receive_faults.Calls(), calls) << "it rests, error " << error;
    loop_.Ask([&] { EXPECT_TRUE(server_.Send("sending goes on", client.Address())); });
    EXPECT_EQ(client.Receive(), "sending goes on");
    receive_faults.Pass();
    clock_.Advance(std::chrono::milliseconds(99), loop_);
    EXPECT_EQ(receive_faults.Calls(), calls);
    clock_.Advance(std::chrono::milliseconds(1), loop_);
    EXPECT_EQ(client.Receive(), "hello") << error;
  }
  EXPECT_NE(log_.Text().find("receive at " + server_.LocalAddress().ToString() + ": "),
            std::string::npos)
      << log_.Text();
  EXPECT_NE(log_.Text().find("again in 100 ms"), std::string::npos) << log_.Text();
}

TEST_F(UdpFaults, StopEndsARest) {
  test::UdpClient client(server_.LocalAddress());
  receive_faults.Fail(ENOMEM, kForEver);
  ASSERT_TRUE(client.Send("hello"));
  ASSERT_TRUE(loop_.Await([&] { return server_.Figures().errors != 0; }));
  loop_.Ask([&] { server_.Stop(); });
  const int calls = receive_faults.Calls();
  clock_.Advance(std::chrono::seconds(1), loop_);
  EXPECT_EQ(receive_faults.Calls(), calls);
}

TEST_F(UdpFaults, PartOfAQueueIsTakenAndTheRestFollows) {
  test::UdpClient client(server_.LocalAddress());
  send_faults.Fail(CallFaults::kOne, 7);
  SendTogether(client, 20);
  ExpectAll(client, 20);
  EXPECT_EQ(Figures().sent, 20U);
}

TEST_F(UdpFaults, NoRoomInTheMiddleOfAQueueKeepsTheOrder) {
  test::UdpClient client(server_.LocalAddress());
  for (int i = 0; i < 3; ++i) {
    send_faults.Fail(EAGAIN, 1 + i);
    SendTogether(client, 20);
    ExpectAll(client, 20);
  }
  const UdpFigures figures = Figures();
  EXPECT_EQ(figures.sent, 60U);
  EXPECT_EQ(figures.dropped + figures.failed, 0U);
}

TEST_F(UdpFaults, OneFailureToSendCostsNoReply) {
  test::UdpClient client(server_.LocalAddress());
  for (const int error : {ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EPERM, EMSGSIZE, ENOBUFS}) {
    send_faults.Fail(error);
    SendTogether(client, 3);
    ExpectAll(client, 3);
    EXPECT_EQ(Figures().failed, 0U) << error;
  }
}

TEST_F(UdpFaults, WhatTheKernelRefusesIsCountedAndDoesNotComeAgain) {
  test::UdpClient client(server_.LocalAddress());
  std::uint64_t failed = 0;
  for (const int error : {ENOBUFS, ENOMEM, EPERM, EHOSTUNREACH}) {
    send_faults.Fail(error, kForEver);
    SendTogether(client, 20);
    failed += 20;
    ASSERT_TRUE(loop_.Await([&] { return server_.Figures().failed == failed; })) << error;
    const int calls = send_faults.Calls();
    loop_.RunRounds(20);
    EXPECT_EQ(send_faults.Calls(), calls) << error;
    send_faults.Pass();
    EXPECT_EQ(client.Ask("still there?"), "still there?") << error;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER

#endif  // __linux__
