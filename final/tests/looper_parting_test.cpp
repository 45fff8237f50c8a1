// How a deleted connection ends: with all its bytes sent, without a reset, and not forever.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "core/looper.h"
#include "core/read_scratch.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"
#include "support/pattern.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::AwaitBytes;
using test::Client;
using test::LoopThread;
using test::ManualClock;
using test::Pattern;

constexpr std::size_t kLarge = std::size_t{8} * 1024 * 1024;

// Sends the last words `words` at the first input.
auto Saying(const std::string& words, Closing closing = Closing::kAuto) -> ConnectionCallback {
  return [&words, closing](Connection* connection) {
    if (connection->Recv().read != 0) {
      connection->WriteToWriteBuffer(words);
      connection->GetLooper()->DeleteConnection(connection->GetFd(), closing);
    }
  };
}

auto AwaitEmpty(LoopThread& loop) -> bool {
  return loop.Await([&] { return loop.Get().ConnectionCount() == 0; });
}

TEST(LooperParting, UnsentBytesOfADeletedConnectionArriveAtASlowReader) {
  const std::string words = Pattern(kLarge);
  const ConnectionCallbacks callbacks{{}, Saying(words)};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("speak"));
  // Slow: it begins to read when the loop has long moved on to other work.
  ASSERT_TRUE(AwaitBytes(client.GetSocket().GetFd(), 1));
  loop.RunRounds(20);
  EXPECT_EQ(loop.Get().ConnectionCount(), 1U);
  EXPECT_TRUE(client.ReceiveAll() == words) << "bytes were lost";
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(AwaitEmpty(loop));
}

// close(2) with unread input resets the connection, and the reset destroys a response on its way.
TEST(LooperParting, AClientThatSendsMoreThanIsReadGetsTheWholeReply) {
  const std::string words = Pattern(100'000);
  const ConnectionCallbacks callbacks{{}, Saying(words)};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  test::WidenReceiveBuffer(id.fd);
  bool sent = false;
  std::thread sender;
  loop.WhileItStandsStill([&] {
    sender = std::thread([&] { sent = client.Send(std::string(kLarge, 'x')); });
    // Its one Recv() does not take it all: the client is seen to be sending.
    EXPECT_TRUE(AwaitBytes(id.fd, ReadScratch::kSize + 1));
  });
  sender.join();
  EXPECT_TRUE(sent) << "reset while it was sending";
  EXPECT_TRUE(client.ReceiveAll() == words);
  EXPECT_FALSE(client.WasReset());
  EXPECT_TRUE(client.Ended());
  client.FinishSending();
  EXPECT_TRUE(AwaitEmpty(loop));
}

TEST(LooperParting, WithNothingLeftItIsClosedAtOnce) {
  const std::string words = "bye";
  const ConnectionCallbacks callbacks{{}, Saying(words)};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("speak"));
  EXPECT_EQ(client.ReceiveAll(), "bye");
  EXPECT_TRUE(AwaitEmpty(loop)) << "without waiting for the client to finish";
}

TEST(LooperParting, ALingeringOneWaitsForTheClientsEnd) {
  const std::string words = "bye";
  ManualClock clock;
  const ConnectionCallbacks callbacks{{}, Saying(words, Closing::kLinger)};
  LoopThread loop(clock.Source());
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("speak"));
  EXPECT_EQ(client.ReceiveAll(), "bye");
  EXPECT_TRUE(client.Ended()) << "the FIN comes at once, the close later";
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(client.Send("but I have not finished"));
    loop.RunRounds(5);
  }
  EXPECT_EQ(loop.Get().ConnectionCount(), 1U);
  client.FinishSending();
  EXPECT_TRUE(AwaitEmpty(loop));
}

TEST(LooperParting, WhoIsPartingIsCountedUntilTheEnd) {
  const std::string words = "bye";
  const ConnectionCallbacks callbacks{{}, Saying(words, Closing::kLinger)};
  LoopThread loop;
  const auto parting = [&] { return loop.Ask([&] { return loop.Get().PartingCount(); }); };
  Client stays = loop.Connect(callbacks);
  Client leaves = loop.Connect(callbacks);
  Client lingers = loop.Connect(callbacks);
  EXPECT_EQ(parting(), 0U);
  ASSERT_TRUE(leaves.Send("speak"));
  ASSERT_TRUE(lingers.Send("speak"));
  EXPECT_EQ(leaves.ReceiveAll(), "bye");
  EXPECT_EQ(lingers.ReceiveAll(), "bye");
  EXPECT_EQ(loop.Get().ConnectionCount(), 3U);
  EXPECT_EQ(parting(), 2U);
  leaves.FinishSending();
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 2; }));
  EXPECT_EQ(parting(), 1U);
  lingers.FinishSending();
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 1; }));
  EXPECT_EQ(parting(), 0U);
}

TEST(LooperParting, ALingeringOneWaitsForKLingerTimeAtMost) {
  const std::string words = "bye";
  ManualClock clock;
  const ConnectionCallbacks callbacks{{}, Saying(words, Closing::kLinger)};
  LoopThread loop(clock.Source());
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("speak"));
  EXPECT_EQ(client.ReceiveAll(), "bye");
  loop.RunRounds(2);
  clock.Advance(Looper::kLingerTime - milliseconds(1), loop);
  EXPECT_EQ(loop.Get().ConnectionCount(), 1U);
  ASSERT_TRUE(client.Send("this does not give me more time"));
  loop.RunRounds(5);
  clock.Advance(milliseconds(1), loop);
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
}

// A client whose kernel takes few bytes before they are read, and a server whose kernel keeps few.
struct NarrowClient {
  NarrowClient(LoopThread& loop, const ConnectionCallbacks& callbacks)
      : client(loop.Connect(callbacks, &id)) {
    const int bytes = 64 * 1024;
    ::setsockopt(client.GetSocket().GetFd(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    test::ShrinkSendBuffer(id.fd);
  }

  ConnectionId id{};
  Client client;
};

TEST(LooperParting, AClientThatDoesNotReadIsGivenUp) {
  const std::string words = Pattern(kLarge);
  ManualClock clock;
  const ConnectionCallbacks callbacks{{}, Saying(words)};
  LoopThread loop(clock.Source());
  NarrowClient narrow(loop, callbacks);
  ASSERT_TRUE(narrow.client.Send("speak"));
  ASSERT_TRUE(loop.Await([&] { return loop.Get().Find(narrow.id) == nullptr; }));
  loop.RunRounds(2);
  clock.Advance(Looper::kFlushTime - milliseconds(1), loop);
  EXPECT_EQ(loop.Get().ConnectionCount(), 1U);
  // Its kernel has taken some bytes, which buy kFlushTime once more, or twice if it was slow.
  for (int i = 0; i < 3; ++i) {
    clock.Advance(Looper::kFlushTime, loop);
  }
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
  EXPECT_LT(narrow.client.ReceiveAll().size(), words.size());
  EXPECT_TRUE(narrow.client.WasReset()) << "its part must not be taken for all";
}

// Each byte used to move the deadline.
TEST(LooperParting, AClientThatTricklesIsGivenUp) {
  constexpr int kLooks = 100;
  constexpr std::size_t kSip = 1000;  // in ten seconds: a fifth of what it should be
  const std::string words = Pattern(kLarge);
  ManualClock clock;
  const ConnectionCallbacks callbacks{{}, Saying(words)};
  LoopThread loop(clock.Source());
  NarrowClient narrow(loop, callbacks);
  ASSERT_TRUE(narrow.client.Send("speak"));
  ASSERT_TRUE(loop.Await([&] { return loop.Get().Find(narrow.id) == nullptr; }));
  std::string received;
  for (int i = 0; i < kLooks && loop.Get().ConnectionCount() != 0; ++i) {
    received += narrow.client.Receive(kSip);
    clock.Advance(Looper::kFlushTime, loop);
  }
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
  EXPECT_LT(received.size(), kLooks * kSip);
}

TEST(LooperParting, AClientThatReadsSlowlyIsNot) {
  const std::string words = Pattern(kLarge);
  ManualClock clock;
  const ConnectionCallbacks callbacks{{}, Saying(words)};
  LoopThread loop(clock.Source());
  NarrowClient narrow(loop, callbacks);
  ASSERT_TRUE(narrow.client.Send("speak"));
  ASSERT_TRUE(loop.Await([&] { return loop.Get().Find(narrow.id) == nullptr; }));
  std::string received;
  for (int i = 0; i < 3; ++i) {
    clock.Advance(Looper::kFlushTime - milliseconds(1), loop);
    received += narrow.client.Receive(kLarge / 4);  // more than both kernels hold: some was sent
  }
  clock.Advance(Looper::kFlushTime - milliseconds(1), loop);
  received += narrow.client.ReceiveAll();
  EXPECT_TRUE(received == words) << received.size() << " bytes";
  EXPECT_TRUE(narrow.client.Ended());
}

TEST(LooperParting, HowSlowIsTooSlowCanBeSaid) {
  const std::string words = Pattern(kLarge);
  ManualClock clock;
  const ConnectionCallbacks callbacks{{}, Saying(words)};
  LoopThread loop(clock.Source());
  loop.Ask([&] { loop.Get().SetFlushRate({0, 2 * Looper::kFlushTime}); });
  NarrowClient narrow(loop, callbacks);
  ASSERT_TRUE(narrow.client.Send("speak"));
  ASSERT_TRUE(loop.Await([&] { return loop.Get().Find(narrow.id) == nullptr; }));
  loop.RunRounds(2);
  clock.Advance(2 * Looper::kFlushTime - milliseconds(1), loop);
  EXPECT_EQ(loop.Get().ConnectionCount(), 1U);
  for (int i = 0; i < 3; ++i) {
    clock.Advance(2 * Looper::kFlushTime, loop);
  }
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
}

struct Witness : ConnectionState {
  explicit Witness(bool& destroyed) : destroyed_(destroyed) {}
  ~Witness() override { destroyed_ = true; }

  bool& destroyed_;
};

TEST(LooperParting, NobodyMeetsItAnyMore) {
  const std::string words = Pattern(kLarge);
  bool destroyed = false;
  int calls = 0;
  int visits = 0;
  const ConnectionCallbacks callbacks{
      [&](Connection* connection) { connection->SetState(std::make_unique<Witness>(destroyed)); },
      [&](Connection* connection) {
        ++calls;
        Saying(words)(connection);
      }};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  loop.RunRounds(2);
  const int before = loop.Ask([&] { return calls; });
  ASSERT_TRUE(client.Send("speak"));
  ASSERT_TRUE(loop.Await([&] { return loop.Get().Find(id) == nullptr; }));
  ASSERT_TRUE(client.Send("and listen"));
  loop.RunRounds(5);
  loop.Ask([&] {
    EXPECT_TRUE(destroyed) << "its state is the user's, and goes at the end of the round";
    EXPECT_EQ(loop.Get().ConnectionCount(), 1U) << "though its bytes are still under way";
    EXPECT_EQ(calls, before + 1);
    loop.Get().ForEachConnection([&](Connection*) { ++visits; });
    EXPECT_EQ(visits, 0);
    loop.Get().DeleteConnection(id.fd);
  });
  EXPECT_TRUE(client.ReceiveAll() == words) << "deleting it once more has cut it off";
}

TEST(LooperParting, AClientThatResetsIsDone) {
  const std::string words = Pattern(kLarge);
  const ConnectionCallbacks callbacks{{}, Saying(words)};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  ASSERT_TRUE(client.Send("speak"));
  ASSERT_TRUE(loop.Await([&] { return loop.Get().Find(id) == nullptr; }));
  EXPECT_EQ(loop.Get().ConnectionCount(), 1U);
  client.Reset();
  EXPECT_TRUE(AwaitEmpty(loop));
}

// A client that floods a parting connection is read and ignored, a piece in each round.
TEST(LooperParting, AFloodIntoItDoesNotStarveTheNeighbours) {
  const std::string words = "bye";
  const ConnectionCallbacks parting{{}, Saying(words, Closing::kLinger)};
  const ConnectionCallbacks echo{{}, [](Connection* connection) {
                                   connection->Recv();
                                   connection->WriteToWriteBuffer(connection->Read());
                                   connection->ClearReadBuffer();
                                 }};
  LoopThread loop;
  Client neighbour = loop.Connect(echo);
  Client flood = loop.Connect(parting);
  ASSERT_TRUE(flood.Send("speak"));
  EXPECT_EQ(flood.ReceiveAll(), "bye");
  bool sent = false;
  std::thread sender([&] { sent = flood.Send(std::string(16 * kLarge, 'x')); });
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(neighbour.Send("hello"));
    EXPECT_EQ(neighbour.Receive(5), "hello");
  }
  sender.join();
  EXPECT_TRUE(sent);
}

TEST(ConnectionPhase, PartsOnlyAfterItsDeletion) {
  EXPECT_TRUE(MayMove(ConnectionPhase::kDeleted, ConnectionPhase::kParting));
  EXPECT_TRUE(MayMove(ConnectionPhase::kParting, ConnectionPhase::kHalfClosed));
  EXPECT_FALSE(MayMove(ConnectionPhase::kOpen, ConnectionPhase::kParting));
  EXPECT_FALSE(MayMove(ConnectionPhase::kPaused, ConnectionPhase::kParting));
  EXPECT_FALSE(MayMove(ConnectionPhase::kDeleted, ConnectionPhase::kHalfClosed));
  EXPECT_FALSE(MayMove(ConnectionPhase::kParting, ConnectionPhase::kDeleted));
  EXPECT_FALSE(MayMove(ConnectionPhase::kHalfClosed, ConnectionPhase::kParting));
}

}  // namespace
}  // namespace TURTLE_SERVER
