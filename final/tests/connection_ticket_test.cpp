// Another thread reaches a connection.
#include "core/connection_ticket.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;
using test::TcpPair;

void Ignore(Connection*) {}

auto TicketFor(LoopThread& loop, ConnectionId id) -> ConnectionTicket {
  return loop.Ask([&] { return ConnectionTicket(*loop.Get().Find(id)); });
}

TEST(ConnectionTicket, ReachesAClientOfAnotherLoopOnItsThread) {
  const ConnectionCallbacks quiet{{}, Ignore};
  std::thread::id thread;
  LoopThread theirs;
  ConnectionId id{};
  Client listener = theirs.Connect(quiet, &id);
  const ConnectionTicket ticket = TicketFor(theirs, id);
  EXPECT_TRUE(ticket.Id() == id);

  const ConnectionCallbacks tells{
      {}, [&](Connection* speaker) {
        if (speaker->Recv().read != 0) {
          EXPECT_TRUE(
              ticket.Post([&thread, said = speaker->ReadAsString()](Connection* connection) {
                thread = std::this_thread::get_id();
                connection->WriteToWriteBuffer(said);
              }));
          speaker->ClearReadBuffer();
        }
      }};
  LoopThread ours;
  Client speaker = ours.Connect(tells);
  ASSERT_TRUE(speaker.Send("news from elsewhere"));
  EXPECT_EQ(listener.Receive(19), "news from elsewhere") << "sent without a call of Send()";
  theirs.Ask([&] { EXPECT_EQ(thread, std::this_thread::get_id()); });
}

TEST(ConnectionTicket, TellsOnTheSameThreadThatTheConnectionHasGone) {
  const ConnectionCallbacks callbacks{{}, Ignore};
  std::promise<std::thread::id> gone;
  int called = 0;
  LoopThread loop;
  ConnectionId id{};
  const Client client = loop.Connect(callbacks, &id);
  const ConnectionTicket ticket = TicketFor(loop, id);
  loop.Ask([&] {
    loop.Get().DeleteConnection(id.fd);
    // Still in the round in which it was deleted.
    EXPECT_TRUE(ticket.Post([&](Connection*) { ++called; },
                            [&] { gone.set_value(std::this_thread::get_id()); }));
  });
  auto answer = gone.get_future();
  ASSERT_EQ(answer.wait_for(test::kPatience), std::future_status::ready);
  EXPECT_EQ(answer.get(), loop.ThreadId());
  EXPECT_TRUE(ticket.Post([&](Connection*) { ++called; })) << "who doesn't care gives no callback";
  loop.RunRounds(2);
  loop.Ask([&] { EXPECT_EQ(called, 0); });
}

TEST(ConnectionTicket, ACallbackThatThrowsEndsTheConnection) {
  const test::CapturedStderr log;
  const ConnectionCallbacks callbacks{{}, Ignore};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  const ConnectionTicket ticket = TicketFor(loop, id);
  EXPECT_TRUE(ticket.Post([](Connection* connection) {
    connection->WriteToWriteBuffer("half of a sen");
    throw std::runtime_error("thrown by a test");
  }));
  client.ReceiveAll();
  EXPECT_TRUE(client.Ended());
  loop.Ask([&] { EXPECT_EQ(loop.Get().Find(id), nullptr); });
  EXPECT_NE(log.Text().find("thrown by a test"), std::string::npos) << log.Text();
}

TEST(ConnectionTicket, NeverMeansTheNextConnectionOfTheNumber) {
  const ConnectionCallbacks callbacks{{}, Ignore};
  std::string order;
  TcpPair pair = test::MakeTcpPair();
  LoopThread loop;
  ConnectionId id{};
  const Client first = loop.Connect(callbacks, &id);
  const ConnectionTicket old = TicketFor(loop, id);
  loop.Ask([&] { loop.Get().DeleteConnection(id.fd); });
  ASSERT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  pair.server = Socket(UniqueFd(::dup2(pair.server.GetFd(), id.fd)));
  loop.Ask([&] {
    EXPECT_EQ(loop.Get().AddConnection(pair.server.Release(), callbacks)->GetFd(), id.fd);
  });
  EXPECT_TRUE(old.Post([&](Connection*) { order += "hit"; }, [&] { order += "gone"; }));
  loop.RunRounds(2);
  loop.Ask([&] { EXPECT_EQ(order, "gone"); });
}

TEST(ConnectionTicket, SaysNoOnceTheLoopHasEnded) {
  const ConnectionCallbacks callbacks{{}, Ignore};
  std::optional<ConnectionTicket> ticket;
  const auto witness = std::make_shared<int>(0);
  {
    LoopThread loop;
    ConnectionId id{};
    const Client client = loop.Connect(callbacks, &id);
    ticket = TicketFor(loop, id);
  }
  EXPECT_FALSE(ticket->Post([witness](Connection*) { ++*witness; }, [witness] { ++*witness; }));
  EXPECT_EQ(*witness, 0);
  EXPECT_EQ(witness.use_count(), 1);
}

// Threads post while clients come and go: exactly one of the two callbacks is called for each post.
TEST(ConnectionTicket, EachPostIsAnsweredOnce) {
  const ConnectionCallbacks callbacks{{}, Ignore};
  constexpr int kPosts = 300;
  std::atomic<int> reached{0};
  std::atomic<int> gone{0};
  LoopThread loop;
  std::vector<Client> clients;
  std::vector<ConnectionTicket> tickets;
  for (int i = 0; i < 3; ++i) {
    ConnectionId id{};
    clients.push_back(loop.Connect(callbacks, &id));
    tickets.push_back(TicketFor(loop, id));
  }
  std::vector<std::thread> threads;
  for (const ConnectionTicket& ticket : tickets) {
    threads.emplace_back([&] {
      for (int i = 0; i < kPosts; ++i) {
        EXPECT_TRUE(ticket.Post(
            [&, i](Connection* connection) {
              ++reached;
              if (i == kPosts / 2) {
                connection->GetLooper()->DeleteConnection(connection->GetFd());
              }
            },
            [&] { ++gone; }));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  loop.RunRounds(2);
  EXPECT_EQ(reached, 3 * (kPosts / 2 + 1));
  EXPECT_EQ(gone, 3 * (kPosts / 2 - 1));
}

}  // namespace
}  // namespace TURTLE_SERVER
