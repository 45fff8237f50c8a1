#ifdef __linux__

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/pin.h"
#include "core/engine.h"
#include "core/net_address.h"
#include "core/out_queue.h"
#include "core/poller.h"
#include "core/read_scratch.h"
#include "core/socket.h"
#include "support/client.h"
#include "support/needs_io_uring.h"
#include "support/pattern.h"
#include "support/ring_faults.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::AwaitBytes;
using test::Client;
using test::Pattern;

constexpr milliseconds kLook{0};

// An engine and its poller; this thread is their loop.
class IoUringEngineTest : public testing::Test {
 protected:
  // A connection that the engine has adopted.
  struct Peer {
    Socket server;
    Client client;
    std::uint64_t token;
  };

  void SetUp() override {
    TURTLE_NEEDS_IO_URING();
    engine_ = MakeIoUringEngine();
    poller_ = &engine_->GetPoller();
    poller_->Wait(kLook);  // from here on this thread owns the ring
  }

  auto Connect() -> std::unique_ptr<Peer> {
    test::TcpPair pair = test::MakeTcpPair();
    auto peer =
        std::make_unique<Peer>(Peer{std::move(pair.server), std::move(pair.client), ++last_token_});
    engine_->Adopt(peer->server.GetFd(), peer->token);
    return peer;
  }

  auto IsExpected(const Peer& peer) -> bool {
    return engine_->Expect(peer.server.GetFd(), peer.token) == Expecting::kOnce;
  }

  // Connects a peer that waits for input: the first Receive() has found nothing.
  auto ConnectSilent() -> std::unique_ptr<Peer> {
    auto peer = Connect();
    EXPECT_EQ(Receive(*peer).result.status, IoStatus::kWouldBlock);
    EXPECT_TRUE(IsExpected(*peer));
    poller_->Wait(kLook);
    return peer;
  }

  // Connects a peer that has sent so many pieces that its receive was cancelled, and none of which
  // was taken.
  auto ConnectUnread() -> std::unique_ptr<Peer> {
    auto peer = ConnectSilent();
    for (int i = 0; i < 80; ++i) {
      EXPECT_TRUE(peer->client.Send("z"));
      for (const PollEvent& event : poller_->Wait(milliseconds(1))) {
        EXPECT_TRUE(event.token != peer->token || IsExpected(*peer));
      }
    }
    poller_->Wait(milliseconds(1));
    return peer;
  }

  auto Receive(Peer& peer) -> Received {
    return engine_->Receive(peer.server, scratch_->bytes.data());
  }

  auto ReceiveText(Peer& peer) -> std::string {
    const Received received = Receive(peer);
    return received.result.status == IoStatus::kBytes
               ? std::string(received.bytes, received.result.bytes)
               : "";
  }

  // Waits until the poller reports `token`.
  auto AwaitEvent(std::uint64_t token) -> PollEvent {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      for (const PollEvent& event : poller_->Wait(milliseconds(100))) {
        if (event.token == token) {
          return event;
        }
      }
    }
    ADD_FAILURE() << "no event of " << token;
    return {};
  }

  auto IsTold(std::uint64_t token) -> bool {
    const auto& events = poller_->Wait(milliseconds(0));
    return std::any_of(events.begin(), events.end(),
                       [token](const PollEvent& event) { return event.token == token; });
  }

  std::uint64_t last_token_ = 0;
  std::unique_ptr<ReadScratch> scratch_{new ReadScratch};
  std::unique_ptr<Engine> engine_;
  Poller* poller_ = nullptr;
};

TEST_F(IoUringEngineTest, TellsOfWhatHasArrivedAndHasItThere) {
  const auto peer = ConnectSilent();
  EXPECT_FALSE(IsTold(peer->token));
  ASSERT_TRUE(peer->client.Send("hello"));
  const PollEvent event = AwaitEvent(peer->token);
  EXPECT_TRUE(event.readable);
  EXPECT_FALSE(event.error);
  EXPECT_EQ(ReceiveText(*peer), "hello");
  EXPECT_EQ(Receive(*peer).result.status, IoStatus::kWouldBlock);
  // Nothing needs to be requested again.
  ASSERT_TRUE(peer->client.Send("again"));
  AwaitEvent(peer->token);
  EXPECT_EQ(ReceiveText(*peer), "again");
}

TEST_F(IoUringEngineTest, TheFirstBytesOfAConnectionAreThereAtOnce) {
  const auto peer = Connect();
  ASSERT_TRUE(peer->client.Send("hello"));
  ASSERT_TRUE(AwaitBytes(peer->server.GetFd(), 5));
  EXPECT_EQ(ReceiveText(*peer), "hello") << "though no round has passed";
}

TEST_F(IoUringEngineTest, WhoHasNotEvenAskedIsToldOfWhatComesLater) {
  const auto peer = Connect();
  ASSERT_TRUE(IsExpected(*peer)) << "served, though nothing was received";
  EXPECT_FALSE(IsTold(peer->token));
  ASSERT_TRUE(peer->client.Send("hello"));
  AwaitEvent(peer->token);
  EXPECT_EQ(ReceiveText(*peer), "hello");
}

TEST_F(IoUringEngineTest, WhoAskedBeforeTheLoopRanIsToldOfWhatComesLater) {
  engine_ = MakeIoUringEngine();
  poller_ = &engine_->GetPoller();
  const auto peer = Connect();
  EXPECT_EQ(Receive(*peer).result.status, IoStatus::kWouldBlock);
  EXPECT_TRUE(IsExpected(*peer));
  poller_->Wait(kLook);
  ASSERT_TRUE(peer->client.Send("later"));
  EXPECT_TRUE(AwaitEvent(peer->token).readable);
  EXPECT_EQ(ReceiveText(*peer), "later");
}

TEST_F(IoUringEngineTest, SeveralArrivalsAreOnePieceAndInOrder) {
  const auto peer = ConnectSilent();
  for (const char* piece : {"one ", "two ", "three"}) {
    ASSERT_TRUE(peer->client.Send(piece));
    AwaitEvent(peer->token);
  }
  EXPECT_EQ(ReceiveText(*peer), "one two three");
}

TEST_F(IoUringEngineTest, DataComesBeforeTheEnd) {
  const auto peer = ConnectSilent();
  ASSERT_TRUE(peer->client.Send("bye"));
  peer->client.FinishSending();
  AwaitEvent(peer->token);
  std::string text;
  Received received;
  for (int i = 0; i < 100 && received.result.status != IoStatus::kEnd; ++i) {
    poller_->Wait(milliseconds(1));
    received = Receive(*peer);
    if (received.result.status == IoStatus::kBytes) {
      text.append(received.bytes, received.result.bytes);
    }
  }
  EXPECT_EQ(text, "bye");
  EXPECT_EQ(received.result.status, IoStatus::kEnd);
  EXPECT_EQ(Receive(*peer).result.status, IoStatus::kEnd) << "and it stays the end";
}

TEST_F(IoUringEngineTest, AResetIsAnErrorOfBothDirections) {
  const auto peer = ConnectSilent();
  peer->client.Reset();
  EXPECT_TRUE(AwaitEvent(peer->token).error);
  const Received received = Receive(*peer);
  EXPECT_EQ(received.result.status, IoStatus::kError);
  EXPECT_EQ(received.result.error, ECONNRESET);
  OutQueue queue;
  queue.Append("anybody there?");
  EXPECT_EQ(engine_->Send(peer->server, queue, false).status, IoStatus::kError);
}

TEST_F(IoUringEngineTest, AResetBehindTheEndIsToldToo) {
  const auto peer = ConnectSilent();
  peer->client.FinishSending();
  AwaitEvent(peer->token);
  EXPECT_EQ(Receive(*peer).result.status, IoStatus::kEnd);
  ASSERT_TRUE(IsExpected(*peer));
  EXPECT_FALSE(IsTold(peer->token)) << "the end is known";
  ASSERT_TRUE(IsExpected(*peer));
  peer->client.Reset();
  EXPECT_TRUE(AwaitEvent(peer->token).error);
}

TEST_F(IoUringEngineTest, AResetIsToldThoughNobodyTakesWhatHasArrived) {
  const auto peer = ConnectUnread();
  peer->client.Reset();
  EXPECT_TRUE(AwaitEvent(peer->token).error);
}

TEST_F(IoUringEngineTest, AResetBehindABacklogIsNoEnd) {
  const auto peer = ConnectUnread();
  while (Receive(*peer).result.status == IoStatus::kBytes) {
  }
  ASSERT_TRUE(IsExpected(*peer));
  poller_->Wait(milliseconds(1));  // the rest of it
  peer->client.Reset();
  AwaitEvent(peer->token);
  IoResult last{IoStatus::kBytes, 0, 0};
  while (last.status == IoStatus::kBytes) {
    last = Receive(*peer).result;
  }
  EXPECT_EQ(last.error, ECONNRESET);
}

// The engine reads only a few buffers from a sender that is not read: TCP makes the sender wait.
TEST_F(IoUringEngineTest, ASenderWhoIsNotReadTakesABoundedPartOfTheBuffers) {
  const auto greedy = ConnectSilent();
  const std::string all = Pattern(std::size_t{8} * 1024 * 1024);
  std::size_t written = 0;
  const int fd = greedy->client.GetSocket().GetFd();
  const auto push = [&] {
    const ssize_t count = ::send(fd, all.data() + written, all.size() - written, MSG_DONTWAIT);
    written += count > 0 ? static_cast<std::size_t>(count) : 0;
    return count > 0;
  };
  for (int round = 0; round < 100; ++round) {
    push();
    poller_->Wait(kLook);
  }
  ASSERT_LT(written, all.size()) << "he was never made to wait";
  const auto other = ConnectSilent();
  ASSERT_TRUE(other->client.Send("me too"));
  AwaitEvent(other->token);
  EXPECT_EQ(ReceiveText(*other), "me too");
  // Nothing is lost or out of order, either.
  std::string received;
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (received.size() < all.size() && std::chrono::steady_clock::now() < deadline) {
    push();
    received += ReceiveText(*greedy);
    ASSERT_TRUE(IsExpected(*greedy));
    poller_->Wait(kLook);
  }
  EXPECT_TRUE(received == all) << received.size();
}

TEST_F(IoUringEngineTest, WhenAllBuffersAreTakenTheBytesAreHadByACall) {
  std::vector<std::unique_ptr<Peer>> greedy;
  for (int i = 0; i < 24; ++i) {  // at 64 buffers each, more than there are
    greedy.push_back(ConnectSilent());
    test::WidenReceiveBuffer(greedy.back()->server.GetFd());
  }
  const std::string much = Pattern(std::size_t{512} * 1024);
  for (int round = 0; round < 50; ++round) {
    for (const auto& each : greedy) {
      static_cast<void>(::send(each->client.GetSocket().GetFd(), much.data(), much.size(),
                               MSG_DONTWAIT | MSG_NOSIGNAL));
    }
    poller_->Wait(kLook);
  }
  const auto other = ConnectSilent();
  ASSERT_TRUE(other->client.Send("me too"));
  AwaitEvent(other->token);
  EXPECT_EQ(ReceiveText(*other), "me too");
}

TEST_F(IoUringEngineTest, WhatIsSentHasLeftAfterTheNextRound) {
  const auto peer = ConnectSilent();
  OutQueue queue;
  queue.Append("hello");
  EXPECT_EQ(engine_->Send(peer->server, queue, false).status, IoStatus::kWouldBlock);
  EXPECT_EQ(queue.Size(), 5U) << "nothing has been handed over";
  EXPECT_FALSE(IsTold(peer->token)) << "nobody waits for that";
  EXPECT_TRUE(queue.Empty());
  EXPECT_EQ(peer->client.Receive(5), "hello");
}

TEST_F(IoUringEngineTest, PiecesOfPinnedMemoryLeaveInOrder) {
  const auto peer = ConnectSilent();
  const std::string all = Pattern(100'000);
  OutQueue queue;
  for (std::size_t at = 0; at < all.size(); at += 500) {  // more than one sendmsg takes
    queue.AppendPinned(std::string_view(all).substr(at, 500), Pin());
  }
  std::string received;
  for (int round = 0; round < 100 && received.size() < all.size(); ++round) {
    static_cast<void>(engine_->Send(peer->server, queue, false));
    poller_->Wait(kLook);
    received += peer->client.Receive(all.size() - received.size(), milliseconds(20));
  }
  EXPECT_TRUE(received == all) << received.size();
}

// The memory of a submission stays until the kernel has read it.
TEST_F(IoUringEngineTest, WhatTheKernelDidNotTakeIsSentInTheNextRoundAsItWas) {
  const auto one = ConnectSilent();
  const auto two = ConnectSilent();
  OutQueue first;
  OutQueue second;
  for (const char* piece : {"this is ", "for one"}) {
    first.AppendPinned(piece, Pin());
  }
  for (const char* piece : {"and that ", "for two"}) {
    second.AppendPinned(piece, Pin());
  }
  static_cast<void>(engine_->Send(one->server, first, false));
  test::ring_enter.Fail(EAGAIN);
  poller_->Wait(kLook);
  static_cast<void>(engine_->Send(two->server, second, false));
  poller_->Wait(kLook);
  EXPECT_EQ(one->client.Receive(15), "this is for one");
  EXPECT_EQ(two->client.Receive(16), "and that for two");
}

TEST_F(IoUringEngineTest, AShortSendGoesOnWhenThereIsRoom) {
  const auto peer = ConnectSilent();
  test::ShrinkSendBuffer(peer->server.GetFd());
  const std::string all = Pattern(std::size_t{2} * 1024 * 1024);
  OutQueue queue;
  queue.AppendPinned(all, Pin());
  ASSERT_EQ(engine_->Send(peer->server, queue, false).status, IoStatus::kWouldBlock);
  poller_->Wait(kLook);
  EXPECT_LT(queue.Size(), all.size());
  EXPECT_GT(queue.Size(), 0U) << "the kernel took all of it, and this test tests nothing";
  EXPECT_FALSE(IsTold(peer->token)) << "there is no room yet";
  std::string received;
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (received.size() < all.size() && std::chrono::steady_clock::now() < deadline) {
    received += peer->client.Receive(100'000, milliseconds(1));
    poller_->Wait(kLook);
    if (!queue.Empty()) {
      static_cast<void>(engine_->Send(peer->server, queue, false));
    }
  }
  EXPECT_TRUE(received == all);
}

TEST_F(IoUringEngineTest, WhatIsForgottenIsNotSent) {
  const auto peer = ConnectSilent();
  auto queue = std::make_unique<OutQueue>();
  queue->Append("never mind");
  static_cast<void>(engine_->Send(peer->server, *queue, false));
  engine_->Forget(peer->server.GetFd());
  queue.reset();
  poller_->Wait(kLook);
  queue = std::make_unique<OutQueue>();
  queue->Append("this");
  static_cast<void>(engine_->Send(peer->server, *queue, false));
  poller_->Wait(kLook);
  EXPECT_EQ(peer->client.Receive(4), "this");
}

// MSG_DONTWAIT: the kernel keeps no send for the time when there is room, and none of its memory.
TEST_F(IoUringEngineTest, ASendThatFindsNoRoomIsOver) {
  const auto peer = ConnectSilent();
  const int fd = peer->server.GetFd();
  test::ShrinkSendBuffer(fd);
  const std::string all = Pattern(100'000);
  std::size_t filled = 0;
  for (ssize_t sent = 0; sent >= 0;) {
    sent = ::send(fd, all.data(), all.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    filled += static_cast<std::size_t>(std::max(sent, ssize_t{0}));
  }
  auto queue = std::make_unique<OutQueue>();
  queue->Append("never mind");
  EXPECT_EQ(engine_->Send(peer->server, *queue, false).status, IoStatus::kWouldBlock);
  poller_->Wait(kLook);
  engine_->Forget(fd);
  queue.reset();
  EXPECT_EQ(peer->client.Receive(filled).size(), filled);
  poller_->Wait(kLook);
  EXPECT_EQ(::send(fd, "that", 4, MSG_NOSIGNAL), 4);
  EXPECT_EQ(peer->client.Receive(4), "that");
}

TEST_F(IoUringEngineTest, TheEndOfALastSendIsTold) {
  const auto peer = ConnectSilent();
  OutQueue queue;
  queue.Append("good bye");
  EXPECT_EQ(engine_->Send(peer->server, queue, true).status, IoStatus::kWouldBlock);
  EXPECT_TRUE(IsTold(peer->token));
  EXPECT_TRUE(queue.Empty());
  engine_->Close(peer->server.Release());
  poller_->Wait(kLook);
  EXPECT_EQ(peer->client.ReceiveAll(), "good bye");
  EXPECT_TRUE(peer->client.Ended());
}

TEST_F(IoUringEngineTest, TheEndOfASendThatBecomesTheLastIsToldToo) {
  const auto peer = ConnectSilent();
  OutQueue queue;
  queue.Append("good bye");
  EXPECT_EQ(engine_->Send(peer->server, queue, false).status, IoStatus::kWouldBlock);
  EXPECT_EQ(engine_->Send(peer->server, queue, true).status, IoStatus::kWouldBlock);
  EXPECT_TRUE(IsTold(peer->token)) << "nobody would close the connection";
}

TEST_F(IoUringEngineTest, ClosingEndsWhatIsUnderWay) {
  const auto peer = ConnectSilent();
  const int fd = peer->server.GetFd();
  engine_->Close(peer->server.Release());
  poller_->Wait(kLook);
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
  EXPECT_EQ(peer->client.ReceiveAll(), "");
  EXPECT_TRUE(peer->client.Ended()) << "the receive under way holds the socket";
}

TEST_F(IoUringEngineTest, ClosingEndsWhatIsUnderWayThoughTheKernelTakesNothing) {
  const auto peer = ConnectSilent();
  const auto other = Connect();
  test::ring_enter.Fail(EAGAIN, std::numeric_limits<int>::max());
  OutQueue queue;
  queue.Append("x");
  while (!queue.Empty()) {  // until the ring is full, and a call sends it
    ASSERT_NE(engine_->Send(other->server, queue, false).status, IoStatus::kError);
    engine_->Forget(other->server.GetFd());
  }
  engine_->Close(peer->server.Release());
  test::ring_enter.Pass();
  EXPECT_EQ(peer->client.ReceiveAll(), "");
  EXPECT_TRUE(peer->client.Ended());
}

TEST_F(IoUringEngineTest, WhatComesTooLateMissesTheNextOwnerOfTheNumber) {
  const auto old = ConnectSilent();
  const int number = old->server.GetFd();
  ASSERT_TRUE(old->client.Send("for the old one"));
  ASSERT_TRUE(AwaitBytes(number, 15));
  test::TcpPair pair = test::MakeTcpPair();  // before the number is free, lest it gets that
  engine_->Close(old->server.Release());     // not submitted: the arrival comes first
  poller_->Wait(kLook);
  Socket same(UniqueFd(::dup2(pair.server.GetFd(), number)));
  engine_->Adopt(number, 77);
  EXPECT_FALSE(IsTold(77));
  EXPECT_EQ(engine_->Receive(same, scratch_->bytes.data()).result.status, IoStatus::kWouldBlock);
}

class IoUringListenerTest : public IoUringEngineTest {
 protected:
  void SetUp() override {
    IoUringEngineTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) {
      return;
    }
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen();
    listener_.SetNonBlocking();
    engine_->Listen(listener_.GetFd(), 42);
    poller_->Wait(kLook);
  }

  auto NewClient() -> Client { return Client(listener_.LocalAddress().Port()); }

  Socket listener_;
};

TEST_F(IoUringListenerTest, AcceptsAllByOneRequest) {
  EXPECT_EQ(engine_->Accept(listener_, nullptr), -1);
  EXPECT_EQ(errno, EAGAIN);
  for (int round = 0; round < 3; ++round) {
    const Client one = NewClient();
    const Client two = NewClient();
    AwaitEvent(42);
    const UniqueFd first(engine_->Accept(listener_, nullptr));
    const UniqueFd second(engine_->Accept(listener_, nullptr));
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_NE(::fcntl(first.Get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(first.Get(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(engine_->Accept(listener_, nullptr), -1);
  }
}

TEST_F(IoUringListenerTest, TellsAgainOfWhoWasNotTaken) {
  const Client client = NewClient();
  AwaitEvent(42);
  EXPECT_TRUE(IsTold(42));
  engine_->Rest(listener_.GetFd(), true);
  EXPECT_FALSE(IsTold(42));
  engine_->Rest(listener_.GetFd(), false);
  EXPECT_TRUE(IsTold(42));
  EXPECT_TRUE(UniqueFd(engine_->Accept(listener_, nullptr)));
  EXPECT_FALSE(IsTold(42));
}

// Another process may share the listener: later clients are left to it.
TEST_F(IoUringListenerTest, LetsNobodyInAnyMore) {
  const Client early = NewClient();
  AwaitEvent(42);
  engine_->StopAccepting(listener_.GetFd());
  const Client late = NewClient();
  poller_->Wait(kLook);
  EXPECT_TRUE(UniqueFd(engine_->Accept(listener_, nullptr))) << "who was in, is in";
  EXPECT_FALSE(UniqueFd(engine_->Accept(listener_, nullptr)));
  NetAddress from;
  EXPECT_TRUE(UniqueFd(listener_.Accept(from))) << "and who came later waits in the queue";
}

// Letting go of the first listener submits, and that accepts a client on the second.
TEST_F(IoUringListenerTest, WhoComesByOneWhileAnotherIsLetGoIsThere) {
  Socket other;
  other.Bind(NetAddress("127.0.0.1", 0));
  other.Listen();
  engine_->Listen(other.GetFd(), 43);
  poller_->Wait(kLook);
  Client client(other.LocalAddress().Port());
  engine_->StopAccepting(listener_.GetFd());
  engine_->StopAccepting(other.GetFd());
  UniqueFd accepted(engine_->Accept(other, nullptr));
  NetAddress from;
  const UniqueFd waiting(accepted ? -1 : other.Accept(from));
  EXPECT_TRUE(accepted || waiting) << "he is in, or in the queue";
  poller_->Wait(kLook);
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_TRUE(AwaitBytes(accepted ? accepted.Get() : waiting.Get(), 5));
}

TEST_F(IoUringEngineTest, FinishingLetsGoOfEverybody) {
  const auto peer = ConnectSilent();
  engine_->Finish();
  const int fd = peer->server.GetFd();
  engine_->Close(peer->server.Release());
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1) << "at once: there is no next round";
  EXPECT_EQ(peer->client.ReceiveAll(), "");
  EXPECT_TRUE(peer->client.Ended()) << "nothing may hold the socket";
}

}  // namespace
}  // namespace TURTLE_SERVER

#endif  // __linux__
