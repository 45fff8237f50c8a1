// The contract of an engine for clients and bytes, whichever kernel interface it uses.
#include "core/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "core/net_address.h"
#include "core/out_queue.h"
#include "core/poller.h"
#include "core/read_scratch.h"
#include "core/socket.h"
#include "support/client.h"
#include "support/needs_io_uring.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Client;

class EngineTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (IsRing()) {
      TURTLE_NEEDS_IO_URING();
    }
    engine_ = IsRing() ? MakeIoUringEngine() : Engine::Create(kNative);
    engine_->GetPoller().Wait(milliseconds(0));  // from here on this thread owns it
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen();
    listener_.SetNonBlocking();
  }

  static auto IsRing() -> bool { return GetParam(); }

  auto IsTold(std::uint64_t token, milliseconds timeout) -> bool {
    const auto& events = engine_->GetPoller().Wait(timeout);
    return std::any_of(events.begin(), events.end(),
                       [token](const PollEvent& event) { return event.token == token; });
  }

  auto Await(std::uint64_t token) -> bool {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      if (IsTold(token, milliseconds(100))) {
        return true;
      }
    }
    return false;
  }

  // Returns what arrives next: bytes, the end or an error.
  auto AwaitInput(Socket& socket, std::uint64_t token) -> Received {
    Received received{{IoStatus::kWouldBlock, 0, 0}};
    while (received.result.status == IoStatus::kWouldBlock && Await(token)) {
      received = engine_->Receive(socket, scratch_->bytes.data());
    }
    return received;
  }

  auto NewClient() -> Client { return Client(listener_.LocalAddress().Port()); }

#ifdef __linux__
  static constexpr PollerKind kNative = PollerKind::kEpoll;
#else
  static constexpr PollerKind kNative = PollerKind::kKqueue;
#endif
  const std::unique_ptr<ReadScratch> scratch_{new ReadScratch};
  std::unique_ptr<Engine> engine_;
  Socket listener_;
};

TEST_P(EngineTest, AcceptsWithTheAddressOfTheClient) {
  engine_->Listen(listener_.GetFd(), 42);
  const Client client = NewClient();
  ASSERT_TRUE(Await(42));
  NetAddress from;
  const UniqueFd accepted(engine_->Accept(listener_, &from));
  EXPECT_TRUE(accepted);
  EXPECT_EQ(from.Ip(), "127.0.0.1");
  EXPECT_EQ(engine_->Accept(listener_, nullptr), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_P(EngineTest, KeepsSilentAboutClientsOfAListenerThatRests) {
  engine_->Listen(listener_.GetFd(), 42);
  engine_->Rest(listener_.GetFd(), true);
  const Client client = NewClient();
  EXPECT_FALSE(IsTold(42, milliseconds(0)));
  engine_->Rest(listener_.GetFd(), false);
  EXPECT_TRUE(Await(42));
  EXPECT_TRUE(UniqueFd(engine_->Accept(listener_, nullptr)));
}

TEST_P(EngineTest, WhoComesAfterTheLastAcceptWaitsInTheQueue) {
  engine_->Listen(listener_.GetFd(), 42);
  engine_->StopAccepting(listener_.GetFd());
  engine_->StopAccepting(listener_.GetFd());
  const Client client = NewClient();
  EXPECT_FALSE(IsTold(42, milliseconds(0)));
  EXPECT_EQ(engine_->Accept(listener_, nullptr), -1);
  EXPECT_EQ(errno, EAGAIN);
  NetAddress from;
  EXPECT_TRUE(UniqueFd(listener_.Accept(from)));
  engine_->Unlisten(listener_.GetFd());
  engine_->Rest(listener_.GetFd(), true);  // there are none any more
}

TEST_P(EngineTest, AListenerThatWasForgottenCanComeBack) {
  engine_->Listen(listener_.GetFd(), 42);
  engine_->Unlisten(listener_.GetFd());
  engine_->Listen(listener_.GetFd(), 43);
  const Client client = NewClient();
  ASSERT_TRUE(Await(43));
  EXPECT_TRUE(UniqueFd(engine_->Accept(listener_, nullptr)));
}

TEST_P(EngineTest, MovesBytesAndTheEndAndCloses) {
  test::TcpPair pair = test::MakeTcpPair();
  const int fd = pair.server.GetFd();
  engine_->Adopt(fd, 7);
  EXPECT_EQ(engine_->Receive(pair.server, scratch_->bytes.data()).result.status,
            IoStatus::kWouldBlock);
  EXPECT_EQ(engine_->Expect(fd, 7), IsRing() ? Expecting::kOnce : Expecting::kForGood);
  ASSERT_TRUE(pair.client.Send("hello"));
  const Received received = AwaitInput(pair.server, 7);
  ASSERT_EQ(received.result.status, IoStatus::kBytes);
  EXPECT_EQ(std::string(received.bytes, received.result.bytes), "hello");
  EXPECT_FALSE(received.more);

  OutQueue queue;
  queue.Append("world");
  EXPECT_NE(engine_->Send(pair.server, queue, true).status, IoStatus::kError);
  engine_->GetPoller().Wait(milliseconds(0));
  EXPECT_TRUE(queue.Empty());
  pair.client.FinishSending();
  EXPECT_EQ(AwaitInput(pair.server, 7).result.status, IoStatus::kEnd);
  engine_->Close(pair.server.Release());
  engine_->GetPoller().Wait(milliseconds(0));
  EXPECT_EQ(pair.client.ReceiveAll(), "world");
  EXPECT_TRUE(pair.client.Ended());
}

INSTANTIATE_TEST_SUITE_P(Each, EngineTest, testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "Ring" : "Readiness");
});

}  // namespace
}  // namespace TURTLE_SERVER
