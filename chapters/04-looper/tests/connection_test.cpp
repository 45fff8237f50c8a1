#include "core/connection.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/looper.h"
#include "support/client.h"
#include "support/pattern.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::AwaitBytes;
using test::AwaitReady;
using test::Client;
using test::Pattern;

// A connection and its client. The loop doesn't run: this thread does the loop's part.
class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() : ConnectionTest(test::MakeTcpPair()) {}

  explicit ConnectionTest(test::TcpPair pair)
      : client_(std::move(pair.client)),
        connection_(*looper_.AddConnection(pair.server.Release(), callbacks_)) {}

  // Queues bytes until the connection is paused; by then the kernel's buffers are full.
  auto FillUntilPaused() -> std::string {
    test::ShrinkSendBuffer(connection_.GetFd());
    std::string written;
    const std::string piece = Pattern(10000);
    while (!connection_.Paused() && written.size() < std::size_t{64} * 1024 * 1024) {
      connection_.WriteToWriteBuffer(piece);
      connection_.Send();
      written += piece;
    }
    return written;
  }

  // Returns the bytes that one read brings the client; empty after ten seconds of silence.
  auto ReceiveSome() -> std::string {
    std::string piece = client_.Receive(1);
    return piece + client_.Receive(4095, std::chrono::milliseconds(0));
  }

  // A step of client and server on one thread: arrived bytes are read, and more are sent. If
  // nothing has arrived, nothing will before the kernel has room again.
  auto ReceiveAndSend() -> std::string {
    std::string piece = client_.Receive(4096, std::chrono::milliseconds(0));
    if (piece.empty()) {
      EXPECT_TRUE(AwaitReady(connection_.GetFd(), POLLOUT));
    }
    connection_.Send();
    return piece;
  }

  const ConnectionCallbacks callbacks_;
  Looper looper_;
  Client client_;
  Connection& connection_;
};

TEST_F(ConnectionTest, RecvSaysThatThereIsNothing) {
  const auto [read, exit] = connection_.Recv();
  EXPECT_EQ(read, 0U);
  EXPECT_FALSE(exit);
  EXPECT_EQ(connection_.Read(), "");
}

TEST_F(ConnectionTest, RecvAddsToWhatWasNotConsumed) {
  ASSERT_TRUE(client_.Send("hello "));
  ASSERT_TRUE(AwaitBytes(connection_.GetFd(), 6));
  EXPECT_EQ(connection_.Recv().read, 6U);
  ASSERT_TRUE(client_.Send("world"));
  ASSERT_TRUE(AwaitBytes(connection_.GetFd(), 5));
  EXPECT_EQ(connection_.Recv().read, 5U);
  EXPECT_EQ(connection_.Read(), "hello world");

  connection_.Consume(6);
  EXPECT_EQ(connection_.Read(), "world");
  EXPECT_EQ(connection_.ReadAsString(), "world");
  connection_.ClearReadBuffer();
  EXPECT_EQ(connection_.Read(), "");
}

TEST_F(ConnectionTest, OneRecvIsBounded) {
  test::WidenReceiveBuffer(connection_.GetFd());
  ASSERT_TRUE(client_.Send(Pattern(Connection::kRecvSize + 1000)));
  ASSERT_TRUE(AwaitBytes(connection_.GetFd(), Connection::kRecvSize + 1000));
  EXPECT_EQ(connection_.Recv().read, Connection::kRecvSize);
}

TEST_F(ConnectionTest, TakesNothingWhileTooMuchLiesUnused) {
  const std::string all = Pattern(2 * Connection::kInputLimit);
  const auto sending = std::async(std::launch::async, [&] { return client_.Send(all); });
  const auto receive = [this] {
    return AwaitReady(connection_.GetFd(), POLLIN) ? connection_.Recv().read : 0;
  };
  std::size_t received = 0;
  for (std::size_t more = receive(); more != 0; more = receive()) {
    received += more;
  }
  EXPECT_EQ(connection_.Read().size(), received);
  EXPECT_GE(received, Connection::kInputLimit);
  EXPECT_LT(received, Connection::kInputLimit + Connection::kRecvSize);

  while (received < all.size()) {
    const std::string_view read = connection_.Read();
    EXPECT_EQ(all.compare(received - read.size(), read.size(), read), 0);
    connection_.ClearReadBuffer();
    const std::size_t more = receive();
    ASSERT_NE(more, 0U);
    received += more;
  }
}

TEST_F(ConnectionTest, KnowsItsLoopAndItsClient) {
  EXPECT_EQ(connection_.GetLooper(), &looper_);
  EXPECT_EQ(connection_.GetPeerAddress(), client_.GetSocket().LocalAddress());
  EXPECT_EQ(looper_.Find(connection_.Id()), &connection_);
}

struct Note : ConnectionState {
  explicit Note(bool& destroyed) : destroyed_(destroyed) {}
  ~Note() override { destroyed_ = true; }

  bool& destroyed_;
};

TEST_F(ConnectionTest, HoldsTheUsersState) {
  bool first_destroyed = false;
  bool second_destroyed = false;
  EXPECT_EQ(connection_.State(), nullptr);
  connection_.SetState(std::make_unique<Note>(first_destroyed));
  EXPECT_NE(connection_.State(), nullptr);
  EXPECT_FALSE(first_destroyed);
  connection_.SetState(std::make_unique<Note>(second_destroyed));
  EXPECT_TRUE(first_destroyed);
  connection_.SetState(nullptr);
  EXPECT_TRUE(second_destroyed);
}

TEST_F(ConnectionTest, DoesNothingAnyMoreOnceItIsDeleted) {
  ASSERT_TRUE(client_.Send("hello"));
  ASSERT_TRUE(AwaitBytes(connection_.GetFd(), 5));
  looper_.DeleteConnection(connection_.GetFd());
  const auto [read, exit] = connection_.Recv();
  EXPECT_EQ(read, 0U);
  EXPECT_TRUE(exit);
  connection_.WriteToWriteBuffer("too late");
  connection_.Send();
  EXPECT_EQ(connection_.UnsentBytes(), 0U);
  EXPECT_EQ(looper_.Find(connection_.Id()), nullptr);
}

TEST_F(ConnectionTest, DataComesBeforeTheEnd) {
  ASSERT_TRUE(client_.Send("bye"));
  client_.FinishSending();
  ASSERT_TRUE(AwaitBytes(connection_.GetFd(), 3));
  const auto [read, exit] = connection_.Recv();
  EXPECT_EQ(read, 3U);
  EXPECT_FALSE(exit);
  ASSERT_TRUE(AwaitReady(connection_.GetFd(), POLLIN));
  for (int i = 0; i < 2; ++i) {
    const auto [more, end] = connection_.Recv();
    EXPECT_EQ(more, 0U);
    EXPECT_TRUE(end) << "and it stays the end";
  }
  EXPECT_EQ(connection_.Read(), "bye");
}

TEST_F(ConnectionTest, AClientThatHasFinishedSendingGetsItsReply) {
  client_.FinishSending();
  ASSERT_TRUE(AwaitReady(connection_.GetFd(), POLLIN));
  ASSERT_TRUE(connection_.Recv().exit);
  connection_.WriteToWriteBuffer("good bye");
  connection_.Send();
  EXPECT_EQ(client_.Receive(8), "good bye");
}

TEST_F(ConnectionTest, WrittenBytesWaitForSend) {
  connection_.WriteToWriteBuffer("one ");
  connection_.WriteToWriteBuffer("two");
  EXPECT_EQ(connection_.UnsentBytes(), 7U);
  connection_.Send();
  EXPECT_EQ(connection_.UnsentBytes(), 0U);
  EXPECT_EQ(client_.Receive(7), "one two");
  connection_.Send();  // nothing to send
  EXPECT_EQ(connection_.UnsentBytes(), 0U);
}

TEST_F(ConnectionTest, WriteIsShortForWriteToWriteBuffer) {
  connection_.WriteToWriteBuffer("hello ");
  connection_.Write("world");
  connection_.Send();
  EXPECT_EQ(client_.Receive(11), "hello world");
}

TEST_F(ConnectionTest, PausesAboveTheHighWaterMark) {
  ASSERT_TRUE(client_.Send("more"));
  ASSERT_TRUE(AwaitBytes(connection_.GetFd(), 4));
  connection_.WriteToWriteBuffer(Pattern(Connection::kHighWater));
  EXPECT_FALSE(connection_.Paused());
  connection_.WriteToWriteBuffer("x");
  EXPECT_TRUE(connection_.Paused());

  const auto [read, exit] = connection_.Recv();
  EXPECT_EQ(read, 0U) << "a paused connection takes nothing";
  EXPECT_FALSE(exit);
}

TEST_F(ConnectionTest, GoesOnAtTheLowWaterMark) {
  ASSERT_TRUE(client_.Send("more"));
  const std::string written = FillUntilPaused();
  ASSERT_TRUE(connection_.Paused());
  std::string received;
  while (connection_.Paused()) {
    received += ReceiveAndSend();
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(connection_.Paused(), connection_.UnsentBytes() > Connection::kLowWater);
  }
  EXPECT_EQ(connection_.Recv().read, 4U) << "what the client sent has waited";
  while (connection_.UnsentBytes() != 0) {
    received += ReceiveAndSend();
    ASSERT_FALSE(HasFailure());
  }
  received += client_.Receive(written.size() - received.size());
  EXPECT_TRUE(received == written);
}

TEST_F(ConnectionTest, EightMegabytesReachASlowReaderByteForByte) {
  const std::string all = Pattern(std::size_t{8} * 1024 * 1024);
  std::string received;
  std::thread reader;
  std::size_t written = 0;
  std::size_t most_unsent = 0;
  while (written < all.size() || connection_.UnsentBytes() != 0) {
    while (written < all.size() && !connection_.Paused()) {
      connection_.WriteToWriteBuffer(std::string_view(all).substr(written, 10000));
      written = std::min(written + 10000, all.size());
      connection_.Send();
      most_unsent = std::max(most_unsent, connection_.UnsentBytes());
    }
    if (!reader.joinable()) {  // slow: it begins only once the server had to pause
      reader = std::thread([&] {
        while (received.size() < all.size()) {
          const std::string piece = ReceiveSome();
          if (piece.empty()) {
            return;
          }
          received += piece;
        }
      });
    }
    if (connection_.UnsentBytes() != 0 && !AwaitReady(connection_.GetFd(), POLLOUT)) {
      ADD_FAILURE() << "no room after ten seconds";
      break;
    }
    connection_.Send();
  }
  reader.join();
  EXPECT_TRUE(received == all) << received.size() << " bytes arrived";
  EXPECT_LE(most_unsent, Connection::kHighWater + 10000);
}

TEST_F(ConnectionTest, ABrokenLineIsAnEnd) {
  client_.Reset();
  ASSERT_TRUE(AwaitReady(connection_.GetFd(), POLLIN));
  EXPECT_TRUE(connection_.Recv().exit);
  connection_.WriteToWriteBuffer("anybody there?");
  EXPECT_EQ(connection_.UnsentBytes(), 0U) << "nobody could read it";
  connection_.Send();
  EXPECT_TRUE(connection_.Recv().exit);
}

TEST_F(ConnectionTest, AClientThatBreaksOffEndsThePause) {
  FillUntilPaused();
  ASSERT_TRUE(connection_.Paused());
  client_.Reset();
  ASSERT_TRUE(AwaitReady(connection_.GetFd(), POLLIN));
  connection_.Send();
  EXPECT_EQ(connection_.UnsentBytes(), 0U);
  EXPECT_FALSE(connection_.Paused());
  EXPECT_TRUE(connection_.Recv().exit);
}

TEST_F(ConnectionTest, TheLineOfAClientThatHasFinishedCanBreak) {
  client_.FinishSending();
  ASSERT_TRUE(AwaitReady(connection_.GetFd(), POLLIN));
  EXPECT_TRUE(connection_.Recv().exit);
  client_.Reset();
  ASSERT_TRUE(AwaitReady(connection_.GetFd(), POLLERR));
  connection_.WriteToWriteBuffer("anybody there?");
  connection_.Send();
  EXPECT_EQ(connection_.UnsentBytes(), 0U) << "nobody could read it";
  EXPECT_TRUE(connection_.Recv().exit);
}

TEST_F(ConnectionTest, IsNotPausedOnceItIsDeleted) {
  FillUntilPaused();
  ASSERT_TRUE(connection_.Paused());
  looper_.DeleteConnection(connection_.GetFd());
  EXPECT_FALSE(connection_.Paused()) << "nobody waits for its client to read";
}

TEST(LineState, NeverMovesBack) {
  EXPECT_TRUE(MayMove(LineState::kOpen, LineState::kEnded));
  EXPECT_TRUE(MayMove(LineState::kOpen, LineState::kBroken));
  EXPECT_TRUE(MayMove(LineState::kEnded, LineState::kBroken));
  EXPECT_FALSE(MayMove(LineState::kEnded, LineState::kOpen));
  EXPECT_FALSE(MayMove(LineState::kBroken, LineState::kOpen));
  EXPECT_FALSE(MayMove(LineState::kBroken, LineState::kEnded));
}

TEST(LineState, DoesNotMoveToWhereItIs) {
  for (const LineState state : {LineState::kOpen, LineState::kEnded, LineState::kBroken}) {
    EXPECT_FALSE(MayMove(state, state));
  }
}

TEST(ConnectionPhase, GoesOnAfterAPauseButNotAfterItsEnd) {
  EXPECT_TRUE(MayMove(ConnectionPhase::kOpen, ConnectionPhase::kPaused));
  EXPECT_TRUE(MayMove(ConnectionPhase::kPaused, ConnectionPhase::kOpen));
  EXPECT_TRUE(MayMove(ConnectionPhase::kOpen, ConnectionPhase::kDeleted));
  EXPECT_TRUE(MayMove(ConnectionPhase::kPaused, ConnectionPhase::kDeleted));
  EXPECT_FALSE(MayMove(ConnectionPhase::kDeleted, ConnectionPhase::kOpen));
  EXPECT_FALSE(MayMove(ConnectionPhase::kDeleted, ConnectionPhase::kPaused));
  EXPECT_FALSE(MayMove(ConnectionPhase::kOpen, ConnectionPhase::kOpen));
}

}  // namespace
}  // namespace TURTLE_SERVER
