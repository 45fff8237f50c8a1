// The round of a loop: which connections are served, and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/looper.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/loop_thread.h"
#include "support/pattern.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::AwaitBytes;
using test::Client;
using test::Echo;
using test::LoopThread;
using test::TcpPair;

TEST(LooperRound, EchoesToManyAtOnce) {
  const ConnectionCallbacks callbacks{{}, Echo};
  LoopThread loop;
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(loop.Connect(callbacks));
  }
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      ASSERT_TRUE(clients[i].Send("client " + std::to_string(10 + i)));
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
      EXPECT_EQ(clients[i].Receive(9), "client " + std::to_string(10 + i));
    }
  }
}

TEST(LooperRound, AHandlerMayDeleteAnotherOfTheSameBatch) {
  std::array<ConnectionId, 2> ids{};
  int served = 0;
  const ConnectionCallbacks callbacks{{}, [&](Connection* connection) {
                                        if (connection->Recv().read == 0) {
                                          return;
                                        }
                                        ++served;
                                        const bool first = connection->Id() == ids[0];
                                        connection->GetLooper()->DeleteConnection(ids[first].fd);
                                        connection->WriteToWriteBuffer("survivor");
                                      }};
  LoopThread loop;
  Client one = loop.Connect(callbacks, &ids[0]);
  Client two = loop.Connect(callbacks, &ids[1]);
  loop.WhileItStandsStill([&] {
    ASSERT_TRUE(one.Send("x"));
    ASSERT_TRUE(two.Send("x"));
    ASSERT_TRUE(AwaitBytes(ids[0].fd, 1) && AwaitBytes(ids[1].fd, 1));
  });
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 1; }));
  loop.Ask([&] {
    EXPECT_EQ(served, 1);
    EXPECT_TRUE((loop.Get().Find(ids[0]) == nullptr) != (loop.Get().Find(ids[1]) == nullptr));
  });
}

// A watch is called at once, a connection only once all events were seen.
TEST(LooperRound, AWatchMayDeleteOneThatHasAnEventInTheSameBatch) {
  int read = 0;
  const ConnectionCallbacks callbacks{
      {}, [&](Connection* connection) { read += connection->Recv().read != 0 ? 1 : 0; }};
  TcpPair bell = test::MakeTcpPair();
  ConnectionId id{};
  LoopThread loop;
  loop.Ask([&] {
    loop.Get().Watch(bell.server.GetFd(), Interest::kRead | Interest::kEdge,
                     [&](const PollEvent&) { loop.Get().DeleteConnection(id.fd); });
  });
  Client client = loop.Connect(callbacks, &id);
  loop.RunRounds(1);
  loop.WhileItStandsStill([&] {
    ASSERT_TRUE(client.Send("x"));
    ASSERT_TRUE(AwaitBytes(id.fd, 1));
    ASSERT_TRUE(bell.client.Send("x"));
    ASSERT_TRUE(AwaitBytes(bell.server.GetFd(), 1));
  });
  client.ReceiveAll();
  loop.Ask([&] { EXPECT_EQ(read, 0); });
}

// A firehose and a neighbour have sent before the loop looks. The neighbour waits for one bounded
// read, not for the end of the flood.
TEST(LooperRound, AFirehoseDoesNotStarveItsNeighbours) {
  std::array<ConnectionId, 2> ids{};
  std::vector<int> served;
  const ConnectionCallbacks callbacks{{}, [&](Connection* connection) {
                                        if (connection->Recv().read != 0) {
                                          connection->ClearReadBuffer();
                                          served.push_back(connection->Id() == ids[0] ? 0 : 1);
                                        }
                                      }};
  LoopThread loop;
  Client firehose = loop.Connect(callbacks, &ids[0]);
  Client neighbour = loop.Connect(callbacks, &ids[1]);
  test::WidenReceiveBuffer(ids[0].fd);
  constexpr std::size_t kFlood = 2 * Connection::kRecvSize + 1;
  loop.WhileItStandsStill([&] {
    ASSERT_TRUE(firehose.Send(std::string(kFlood, 'x')));
    ASSERT_TRUE(AwaitBytes(ids[0].fd, kFlood));
    ASSERT_TRUE(neighbour.Send("me too"));
    ASSERT_TRUE(AwaitBytes(ids[1].fd, 6));
  });
  ASSERT_TRUE(loop.Await([&] { return served.size() >= 4; }));
  loop.Ask([&] {
    EXPECT_EQ(std::count(served.begin(), served.end(), 0), 3);
    EXPECT_LE(std::find(served.begin(), served.end(), 1) - served.begin(), 1);
  });
}

TEST(LooperRound, AClientThatNeverReadsCostsABoundedAmountOfMemoryAndStopsNobody) {
  std::size_t most_unsent = 0;
  const ConnectionCallbacks callbacks{
      {}, [&](Connection* connection) {
        EXPECT_FALSE(connection->Paused()) << "a handler could not do a thing";
        Echo(connection);
        most_unsent = std::max(most_unsent, connection->UnsentBytes());
      }};
  LoopThread loop;
  ConnectionId id{};
  Client deaf = loop.Connect(callbacks, &id);
  Client other = loop.Connect(callbacks);
  test::ShrinkSendBuffer(id.fd);
  deaf.GetSocket().SetNonBlocking();
  const std::string piece(100000, 'x');
  std::size_t sent = 0;
  // Sends until the server has paused, and the kernel takes nothing more for it.
  for (IoResult result{IoStatus::kBytes, 0, 0}; result.status == IoStatus::kBytes || !loop.Ask([&] {
         return loop.Get().Find(id)->Paused();
       });) {
    result = deaf.GetSocket().Send(piece);
    ASSERT_NE(result.status, IoStatus::kError);
    sent += result.bytes;
    ASSERT_LT(sent, std::size_t{100} * 1024 * 1024) << "the server takes it all";
  }
  ASSERT_TRUE(other.Send("anybody there?"));
  EXPECT_EQ(other.Receive(14), "anybody there?");
  loop.Ask([&] { EXPECT_LE(most_unsent, Connection::kHighWater + Connection::kRecvSize); });

  EXPECT_EQ(deaf.Receive(sent).size(), sent) << "nothing is lost once it reads";
}

// A download needs no input to continue, only room.
TEST(LooperRound, TheEndOfAPauseIsAReasonToCallTheHandler) {
  const std::string all = test::Pattern(std::size_t{8} * 1024 * 1024);
  std::size_t written = 0;
  int pauses = 0;
  const ConnectionCallbacks callbacks{
      {}, [&](Connection* connection) {
        connection->Recv();
        while (!connection->Paused() && written < all.size()) {
          connection->WriteToWriteBuffer(std::string_view(all).substr(written, 50000));
          written = std::min(written + 50000, all.size());
          connection->Send();
        }
        pauses += connection->Paused() ? 1 : 0;
      }};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(loop.Await([&] { return pauses > 0; }));
  EXPECT_TRUE(client.Receive(all.size()) == all);
}

// A handler that waits for something else, such as a database, leaves the input where it is. The
// loop must not call it again and again.
TEST(LooperRound, ItSleepsWhenAHandlerDoesNotReadWhatIsThere) {
  int calls = 0;
  bool reads = false;
  const ConnectionCallbacks callbacks{{}, [&](Connection* connection) {
                                        ++calls;
                                        if (reads) {
                                          Echo(connection);
                                        }
                                      }};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  ASSERT_TRUE(client.Send("hello"));
  ASSERT_TRUE(loop.Await([&] { return calls > 0; }));
  loop.RunRounds(3);
  const int settled = loop.Ask([&] { return calls; });
  loop.RunRounds(20);
  loop.Ask([&] {
    EXPECT_EQ(calls, settled);
    reads = true;
    loop.Get().Schedule(loop.Get().Find(id));
  });
  EXPECT_EQ(client.Receive(5), "hello");
}

TEST(LooperRound, ScheduleHasTheHandlerCalledOnceWithoutInput) {
  int calls = 0;
  int reschedules = 2;
  const ConnectionCallbacks callbacks{{}, [&](Connection* connection) {
                                        ++calls;
                                        if (reschedules-- > 0) {
                                          connection->GetLooper()->Schedule(connection);
                                          connection->GetLooper()->Schedule(connection);
                                        }
                                      }};
  LoopThread loop;
  ConnectionId id{};
  const Client client = loop.Connect(callbacks, &id);
  loop.RunRounds(10);
  const int before = loop.Ask([&] {
    EXPECT_EQ(calls, 3) << "the first service, and one for each time that it asked for more";
    reschedules = 0;
    for (int i = 0; i < 3; ++i) {
      loop.Get().Schedule(loop.Get().Find(id));
    }
    return calls;
  });
  loop.RunRounds(10);
  loop.Ask([&] { EXPECT_EQ(calls, before + 1); });
}

TEST(LooperRound, ForEachMayAddAndDelete) {
  const ConnectionCallbacks callbacks{{}, [](Connection*) {}};
  LoopThread loop;
  std::vector<Client> clients;
  std::vector<ConnectionId> ids(4);
  for (ConnectionId& id : ids) {
    clients.push_back(loop.Connect(callbacks, &id));
  }
  std::vector<TcpPair> more;
  for (int i = 0; i < 100; ++i) {
    more.push_back(test::MakeTcpPair());
  }
  loop.Ask([&] {
    std::vector<int> seen;
    loop.Get().ForEachConnection([&](Connection* connection) {
      seen.push_back(connection->GetFd());
      if (connection->Id() == ids[0]) {
        loop.Get().DeleteConnection(ids[0].fd);
        loop.Get().DeleteConnection(ids[2].fd);
        for (TcpPair& pair : more) {
          loop.Get().AddConnection(pair.server.Release(), callbacks);
        }
      }
    });
    EXPECT_EQ(std::count(seen.begin(), seen.end(), ids[1].fd), 1);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), ids[3].fd), 1);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), ids[2].fd), 0) << "deleted before its turn";
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << "nobody twice";
  });
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 102; }));
}

}  // namespace
}  // namespace TURTLE_SERVER
