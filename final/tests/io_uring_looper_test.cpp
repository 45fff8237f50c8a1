// A loop on io_uring(7), for connections that would notice a difference if something were wrong.
#ifdef __linux__

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pin.h"
#include "core/acceptor.h"
#include "core/looper.h"
#include "core/net_address.h"
#include "core/poller.h"
#include "core/socket.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/needs_io_uring.h"
#include "support/pattern.h"
#include "support/ring_faults.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;
using test::Pattern;

void Echo(Connection* connection) {
  const bool exit = connection->Recv().exit;
  connection->WriteToWriteBuffer(connection->Read());
  connection->ClearReadBuffer();
  if (exit) {
    connection->GetLooper()->DeleteConnection(connection->GetFd());
  }
}

// Sends `words` in response to the first input, and closes.
auto Saying(std::string_view words, Closing closing = Closing::kAuto) -> ConnectionCallback {
  return [words, closing](Connection* connection) {
    connection->Recv();
    if (!connection->Read().empty()) {
      connection->WritePinned(words, Pin());
      connection->ClearReadBuffer();
      connection->GetLooper()->DeleteConnection(connection->GetFd(), closing);
    }
  };
}

class IoUringLooper : public testing::Test {
 protected:
  void SetUp() override {
    TURTLE_NEEDS_IO_URING();
    loop_ = std::make_unique<LoopThread>(Clock::now, PollerKind::kIoUring);
  }

  [[nodiscard]] auto AwaitEmpty() -> bool {
    return loop_->Await([this] { return loop_->Get().ConnectionCount() == 0; });
  }

  const ConnectionCallbacks echo_{{}, Echo};
  std::unique_ptr<LoopThread> loop_;
};

TEST_F(IoUringLooper, EchoesMegabytesByteForByte) {
  const std::string all = Pattern(std::size_t{4} * 1024 * 1024);
  Client client = loop_->Connect(echo_);
  bool sent = false;
  std::thread sender([&] {
    sent = client.Send(all);
    client.FinishSending();
  });
  const std::string received = client.ReceiveAll();
  sender.join();
  EXPECT_TRUE(sent);
  EXPECT_TRUE(received == all) << received.size();
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(AwaitEmpty());
}

// The page promises that a round costs one system call, however many clients it serves.
TEST_F(IoUringLooper, ARoundOfManyClientsIsOneCall) {
  std::vector<Client> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(loop_->Connect(echo_));
    ASSERT_TRUE(clients.back().Send("first"));
    ASSERT_EQ(clients.back().Receive(5), "first");
  }
  loop_->RunRounds(2);
  int before = 0;
  loop_->WhileItStandsStill([&] {
    for (Client& client : clients) {
      ASSERT_TRUE(client.Send("again"));
    }
    before = test::ring_enter.Count();
  });
  for (Client& client : clients) {
    EXPECT_EQ(client.Receive(5), "again");
  }
  // One call brings the fifty requests, one sends the fifty responses.
  EXPECT_LE(test::ring_enter.Count() - before, 6);
}

TEST_F(IoUringLooper, ALastReplyThatDoesNotFitReachesASlowReader) {
  const std::string words = Pattern(std::size_t{1} * 1024 * 1024);
  const ConnectionCallbacks saying{{}, Saying(words)};
  ConnectionId id{};
  Client client = loop_->Connect(saying, &id);
  loop_->Ask([&] { test::ShrinkSendBuffer(id.fd); });
  ASSERT_TRUE(client.Send("speak"));
  ASSERT_TRUE(loop_->Await([&] { return loop_->Get().Find(id) == nullptr; }));
  ASSERT_TRUE(loop_->Await([&] { return loop_->Get().PartingCount() == 1; }))
      << "the kernel has taken all of it, and this test tests nothing";
  EXPECT_TRUE(client.ReceiveAll() == words);
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(AwaitEmpty());
}

TEST_F(IoUringLooper, AClientThatResetsDuringTheLastReplyIsDone) {
  const std::string words = Pattern(std::size_t{1} * 1024 * 1024);
  const ConnectionCallbacks saying{{}, Saying(words)};
  ConnectionId id{};
  Client client = loop_->Connect(saying, &id);
  loop_->Ask([&] { test::ShrinkSendBuffer(id.fd); });
  ASSERT_TRUE(client.Send("speak"));
  ASSERT_TRUE(loop_->Await([&] { return loop_->Get().PartingCount() == 1; }));
  client.Reset();
  EXPECT_TRUE(AwaitEmpty());
}

// A connection is deleted while its response is prepared, but not submitted.
TEST_F(IoUringLooper, AResetTakesBackWhatWasOnItsWay) {
  const std::string words(1000, 'x');
  const ConnectionCallbacks cutting{{}, [&](Connection* connection) {
                                      connection->Recv();
                                      if (!connection->Read().empty()) {
                                        connection->WriteToWriteBuffer(words);
                                        connection->Send();
                                        connection->GetLooper()->DeleteConnection(
                                            connection->GetFd(), Closing::kReset);
                                      }
                                    }};
  Client client = loop_->Connect(cutting);
  ASSERT_TRUE(client.Send("speak"));
  client.ReceiveAll();
  EXPECT_TRUE(client.WasReset());
  EXPECT_TRUE(AwaitEmpty());
}

// Numbers are reused at once: nothing of the old connection may reach the new one.
TEST_F(IoUringLooper, ShortConnectionsFollowEachOtherOnTheSameNumbers) {
  const std::string words = "good bye";
  const ConnectionCallbacks saying{{}, Saying(words)};
  for (int i = 0; i < 500; ++i) {
    std::array<Client, 2> clients{loop_->Connect(saying), loop_->Connect(saying)};
    for (Client& client : clients) {
      ASSERT_TRUE(client.Send("speak"));
    }
    for (Client& client : clients) {
      ASSERT_EQ(client.ReceiveAll(), words) << i;
      ASSERT_TRUE(client.Ended()) << i;
    }
  }
  EXPECT_TRUE(AwaitEmpty());
}

TEST_F(IoUringLooper, MoreConnectionsThanTheQueueHasEntriesAreDeletedInOneRound) {
  std::vector<Client> clients;
  for (int i = 0; i < 700; ++i) {  // three requests each
    clients.push_back(loop_->Connect(echo_));
  }
  loop_->RunRounds(2);
  loop_->Ask([&] {
    loop_->Get().ForEachConnection([](Connection* connection) {
      connection->WriteToWriteBuffer("bye");
      connection->GetLooper()->DeleteConnection(connection->GetFd());
    });
  });
  for (Client& client : clients) {
    ASSERT_EQ(client.ReceiveAll(), "bye");
    ASSERT_TRUE(client.Ended());
  }
  EXPECT_TRUE(AwaitEmpty());
}

TEST_F(IoUringLooper, ASignalOrAWantOfMemoryJustEndsTheWait) {
  Client client = loop_->Connect(echo_);
  for (const int error : {EINTR, EAGAIN, EBUSY, ENOMEM}) {
    test::ring_enter.Fail(error, 3);
    ASSERT_TRUE(client.Send("hello"));
    EXPECT_EQ(client.Receive(5), "hello") << error;
  }
  test::ring_enter.Pass();
}

// A drain without descriptors rests, although no client will be let in any more.
TEST_F(IoUringLooper, AListenerThatNoLongerAcceptsMayStillRest) {
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  loop_->Ask([&] {
    Looper& looper = loop_->Get();
    const WatchId id = looper.WatchListener(listener.GetFd(), [](const PollEvent&) {});
    looper.StopAccepting(id);
    EXPECT_NO_THROW(looper.ChangeWatch(id, Interest::kNone));
    EXPECT_NO_THROW(looper.ChangeWatch(id, Interest::kRead));
    EXPECT_NO_THROW(looper.Unwatch(id));
  });
}

TEST_F(IoUringLooper, AListenerThatWasShutDownIsRestedOnAndLogged) {
  const test::CapturedStderr log;
  std::atomic<int> rounds{0};
  LoopThread loop(
      [&rounds] {
        ++rounds;
        return Clock::now();
      },
      PollerKind::kIoUring);
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  const int fd = listener.GetFd();
  ListenOptions options;
  options.retry = std::chrono::hours(1);
  Acceptor acceptor(loop.Get(), std::move(listener), {&loop.Get()}, echo_, options);
  loop.Ask([&] { acceptor.Start(); });
  loop.RunRounds(2);
  ::shutdown(fd, SHUT_RDWR);
  EXPECT_TRUE(loop.Await(
      [&] { return log.Text().find(": Invalid argument; again in ") != std::string::npos; }));
  const int before = rounds;
  LoopThread other;
  other.RunRounds(200);
  EXPECT_LT(rounds - before, 100) << "it spins";
  loop.Ask([&] { acceptor.Stop(); });
}

// The last word that on_stop writes has been submitted by the time the loop ends.
TEST_F(IoUringLooper, AWordAtTheStopIsSentThoughNoTimeIsLeft) {
  ConnectionCallbacks callbacks = echo_;
  callbacks.on_stop = [](Connection* connection) {
    connection->WriteToWriteBuffer("bye");
    connection->GetLooper()->DeleteConnection(connection->GetFd());
  };
  Client client = loop_->Connect(callbacks);
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.Receive(5), "hello");
  loop_->Get().SetStopTimeout(std::chrono::milliseconds(0));
  loop_.reset();
  EXPECT_EQ(client.ReceiveAll(), "bye");
}

}  // namespace
}  // namespace TURTLE_SERVER

#endif  // __linux__
