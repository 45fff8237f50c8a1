// A connection's life in its loop: how it begins, how it ends, and what it is called.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "core/looper.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/loop_thread.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::AwaitBytes;
using test::Client;
using test::Delete;
using test::Echo;
using test::LoopThread;
using test::TcpPair;

// No event reports bytes that came before the loop asked the kernel for events.
TEST(LooperConnection, ServesWhatCameWithTheConnection) {
  std::vector<std::string> calls;
  const ConnectionCallbacks callbacks{[&](Connection*) { calls.push_back("accept"); },
                                      [&](Connection* connection) {
                                        connection->Recv();
                                        calls.push_back(connection->ReadAsString());
                                        connection->ClearReadBuffer();
                                        connection->WriteToWriteBuffer("done");
                                        Delete(connection);
                                      }};
  LoopThread loop;
  TcpPair pair = test::MakeTcpPair();
  ASSERT_TRUE(pair.client.Send("request"));
  ASSERT_TRUE(AwaitBytes(pair.server.GetFd(), 7));
  loop.Ask([&] { loop.Get().AddConnection(pair.server.Release(), callbacks); });
  EXPECT_EQ(pair.client.ReceiveAll(), "done");
  loop.Ask([&] { EXPECT_EQ(calls, (std::vector<std::string>{"accept", "request"})); });
}

TEST(LooperConnection, MayBeDeletedBeforeItIsServed) {
  int handled = 0;
  const ConnectionCallbacks callbacks{[](Connection* connection) {
                                        connection->WriteToWriteBuffer("no, thank you");
                                        Delete(connection);
                                      },
                                      [&](Connection*) { ++handled; }};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  EXPECT_EQ(client.ReceiveAll(), "no, thank you");
  EXPECT_TRUE(client.Ended());
  loop.Ask([&] { EXPECT_EQ(handled, 0); });
}

// Edge-triggered epoll reports both in one event, and nothing more after a short read.
TEST(LooperConnection, DataAndFinOfOneEventAreFirstDataAndThenTheEnd) {
  std::vector<std::string> reads;
  const ConnectionCallbacks callbacks{{}, [&](Connection* connection) {
                                        const auto [read, exit] = connection->Recv();
                                        if (read != 0) {
                                          reads.push_back(connection->ReadAsString());
                                          connection->ClearReadBuffer();
                                          connection->WriteToWriteBuffer("reply");
                                        } else if (exit) {
                                          reads.emplace_back("end");
                                          Delete(connection);
                                        }
                                      }};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  loop.WhileItStandsStill([&] {
    ASSERT_TRUE(client.Send("request"));
    client.FinishSending();
  });
  EXPECT_EQ(client.ReceiveAll(), "reply") << "a client that half-closes gets its reply";
  EXPECT_TRUE(client.Ended());
  loop.Ask([&] { EXPECT_EQ(reads, (std::vector<std::string>{"request", "end"})); });
}

TEST(LooperConnection, AFinAfterAShortReadIsNoticed) {
  const ConnectionCallbacks callbacks{{}, Echo};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.Receive(5), "hello");
  client.FinishSending();
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.Ended());
}

TEST(LooperConnection, AResetEndsItLikeAFin) {
  const ConnectionCallbacks callbacks{{}, Echo};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.Receive(5), "hello");
  client.Reset();
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
}

struct Witness : ConnectionState {
  explicit Witness(bool& destroyed) : destroyed_(destroyed) {}
  ~Witness() override { destroyed_ = true; }

  bool& destroyed_;
};

TEST(LooperConnection, StaysValidUntilTheHandlerThatDeletesItReturns) {
  bool destroyed = false;
  const ConnectionCallbacks callbacks{{}, [&](Connection* connection) {
                                        if (connection->Recv().read == 0) {
                                          return;
                                        }
                                        connection->SetState(std::make_unique<Witness>(destroyed));
                                        connection->WriteToWriteBuffer("the last words");
                                        Delete(connection);
                                        Delete(connection);
                                        connection->WriteToWriteBuffer("are not these");
                                        connection->Send();
                                        EXPECT_TRUE(connection->Recv().exit);
                                        EXPECT_FALSE(destroyed);
                                      }};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("x"));
  EXPECT_EQ(client.ReceiveAll(), "the last words");
  loop.Ask([&] { EXPECT_TRUE(destroyed); });
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
}

TEST(LooperConnection, DeletingWhatIsNotThereDoesNothing) {
  const ConnectionCallbacks callbacks{{}, Echo};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  loop.Ask([&] {
    for (const int fd : {-1, 0, 999, 1 << 30}) {
      loop.Get().DeleteConnection(fd);
    }
  });
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.Receive(5), "hello");
}

TEST(LooperConnection, AHandlerThatThrowsLosesItsConnectionAndNothingElse) {
  const test::CapturedStderr captured;
  const ConnectionCallbacks callbacks{{}, [](Connection* connection) {
                                        Echo(connection);
                                        if (connection->UnsentBytes() == 4) {
                                          throw std::runtime_error("four is too much");
                                        }
                                      }};
  LoopThread loop;
  Client good = loop.Connect(callbacks);
  Client bad = loop.Connect(callbacks);
  ASSERT_TRUE(bad.Send("four"));
  bad.ReceiveAll();
  EXPECT_TRUE(bad.Ended());
  ASSERT_TRUE(good.Send("fine!"));
  EXPECT_EQ(good.Receive(5), "fine!");
  EXPECT_NE(captured.Text().find("four is too much"), std::string::npos) << captured.Text();
}

TEST(LooperConnection, AnOldNameDoesNotMeanTheNextConnectionOfTheNumber) {
  const ConnectionCallbacks callbacks{{}, Echo};
  TcpPair pair = test::MakeTcpPair();
  LoopThread loop;
  ConnectionId old{};
  const Client first = loop.Connect(callbacks, &old);
  loop.Ask([&] { loop.Get().DeleteConnection(old.fd); });
  ASSERT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  pair.server = Socket(UniqueFd(::dup2(pair.server.GetFd(), old.fd)));
  loop.Ask([&] {
    const ConnectionId now = loop.Get().AddConnection(pair.server.Release(), callbacks)->Id();
    EXPECT_EQ(now.fd, old.fd);
    EXPECT_FALSE(now == old);
    EXPECT_NE(loop.Get().Find(now), nullptr);
    EXPECT_EQ(loop.Get().Find(old), nullptr);
  });
}

TEST(LooperConnection, AnOldNameDoesNotDeleteTheStrangerWithTheNumber) {
  const ConnectionCallbacks callbacks{{}, Echo};
  TcpPair pair = test::MakeTcpPair();
  LoopThread loop;
  ConnectionId old{};
  const Client first = loop.Connect(callbacks, &old);
  loop.Ask([&] { loop.Get().DeleteConnection(old); });
  ASSERT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  pair.server = Socket(UniqueFd(::dup2(pair.server.GetFd(), old.fd)));
  loop.Ask([&] {
    const ConnectionId now = loop.Get().AddConnection(pair.server.Release(), callbacks)->Id();
    ASSERT_EQ(now.fd, old.fd);
    loop.Get().DeleteConnection(old);
    EXPECT_NE(loop.Get().Find(now), nullptr) << "a stranger was deleted";
    loop.Get().DeleteConnection(now);
    EXPECT_EQ(loop.Get().Find(now), nullptr);
    loop.Get().DeleteConnection(now);
  });
}

TEST(LooperConnection, ClosesItself) {
  const ConnectionCallbacks callbacks{{}, [](Connection* connection) {
                                        if (connection->Recv().read != 0) {
                                          connection->Write("bye");
                                          connection->Close();
                                          connection->Close();
                                          connection->Write("too late");
                                        }
                                      }};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.ReceiveAll(), "bye");
  EXPECT_TRUE(client.Ended());
}

TEST(LooperConnection, ATaskReachesAConnectionByItsName) {
  const ConnectionCallbacks callbacks{{}, Echo};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  loop.Ask([&] {
    Connection* connection = loop.Get().Find(id);
    connection->WriteToWriteBuffer("news");
    connection->Send();
  });
  EXPECT_EQ(client.Receive(4), "news");
  client.Reset();
  ASSERT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  loop.Ask([&] { EXPECT_EQ(loop.Get().Find(id), nullptr); });
}

TEST(LooperConnection, RefusesADescriptorThatItHasAlreadyAndOneThatIsNone) {
  const ConnectionCallbacks callbacks{{}, Echo};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  loop.Ask([&] {
    const auto ignore = [](const PollEvent&) {};
    EXPECT_THROW(loop.Get().Watch(id.fd, Interest::kRead, ignore), std::logic_error);
    EXPECT_THROW(loop.Get().Watch(-1, Interest::kRead, ignore), std::logic_error);
    EXPECT_THROW(loop.Get().AddConnection(UniqueFd(), callbacks), std::logic_error);
  });
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.Receive(5), "hello") << "and keeps what it has";
}

}  // namespace
}  // namespace TURTLE_SERVER
