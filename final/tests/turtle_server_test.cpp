// The server: an address and a few callbacks.
#include "core/turtle_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/client.h"
#include "support/pattern.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::Pattern;
using test::ServerThread;

const NetAddress kAnyPort("127.0.0.1", 0);

void Echo(Connection* client) {
  const auto [read, exit] = client->Recv();
  if (exit) {
    client->GetLooper()->DeleteConnection(client->GetFd());
  } else if (read != 0) {
    client->WriteToWriteBuffer(client->Read());
    client->ClearReadBuffer();
  }
}

void ExpectEcho(Client& client, const std::string& bytes = "hello") {
  ASSERT_TRUE(client.Send(bytes));
  ASSERT_EQ(client.Receive(bytes.size()), bytes);
}

auto Threads(std::size_t count) -> ServerOptions {
  ServerOptions options;
  options.threads = count;
  return options;
}

TEST(TurtleServer, ServesManyClients) {
  TurtleServer server(kAnyPort, Threads(2));
  server.OnHandle(Echo);
  const ServerThread thread(server);
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back(server.LocalAddress().Port());
  }
  for (int round = 0; round < 3; ++round) {
    for (Client& client : clients) {
      ExpectEcho(client);
    }
  }
}

TEST(TurtleServer, ALargeEchoArrivesThoughTheClientReadsLate) {
  TurtleServer server(kAnyPort, Threads(1));
  server.OnHandle(Echo);
  const ServerThread thread(server);
  Client client(server.LocalAddress().Port());
  const std::string bytes = Pattern(std::size_t{8} * 1024 * 1024);
  std::thread sender([&] {
    EXPECT_TRUE(client.Send(bytes));
    client.FinishSending();
  });
  const std::string received = client.ReceiveAll();
  sender.join();
  EXPECT_TRUE(received == bytes) << received.size() << " bytes";
  EXPECT_TRUE(client.Ended());
}

TEST(TurtleServer, NeedsAHandler) {
  TurtleServer server(kAnyPort, Threads(1));
  server.OnAccept([](Connection*) {});
  EXPECT_THROW(server.Begin(), std::logic_error);
}

TEST(TurtleServer, OnAUsedPortItSaysWhichAndWhy) {
  const TurtleServer first(kAnyPort, Threads(1));
  try {
    const TurtleServer second(first.LocalAddress(), Threads(1));
    FAIL() << "two servers on " << first.LocalAddress().ToString();
  } catch (const std::system_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(first.LocalAddress().ToString()), std::string::npos) << text;
    EXPECT_NE(text.find("in use"), std::string::npos) << text;
    EXPECT_EQ(error.code(), std::errc::address_in_use);
  }
}

TEST(TurtleServer, ListensBeforeItBegins) {
  TurtleServer server(kAnyPort, Threads(1));
  server.OnHandle(Echo);
  Client early(server.LocalAddress().Port());
  ASSERT_TRUE(early.Send("hello"));
  {
    const ServerThread thread(server);
    EXPECT_EQ(early.Receive(5), "hello");
  }
  EXPECT_EQ(early.ReceiveAll(), "");
  EXPECT_TRUE(early.Ended());
}

TEST(TurtleServer, HasAsManyLoopsAsItWasTold) {
  std::mutex mutex;
  std::set<std::thread::id> accepting;
  bool own_thread = true;
  TurtleServer server(kAnyPort, Threads(3));
  server
      .OnAccept([&](Connection*) {
        const std::lock_guard lock(mutex);
        accepting.insert(std::this_thread::get_id());
      })
      .OnHandle([&](Connection* client) {
        {
          const std::lock_guard lock(mutex);
          own_thread = own_thread && accepting.count(std::this_thread::get_id()) == 1;
        }
        Echo(client);
      });
  EXPECT_EQ(server.Loopers().size(), 3U);
  const ServerThread thread(server);
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(server.LocalAddress().Port());
    ExpectEcho(clients.back());
  }
  const std::lock_guard lock(mutex);
  EXPECT_EQ(accepting.size(), 3U) << "each client on a loop, and each loop on a thread";
  EXPECT_EQ(accepting.count(thread.Id()), 1U) << "one of them is the thread that called Begin()";
  EXPECT_TRUE(own_thread) << "a connection belongs to the thread that has welcomed it";
}

TEST(TurtleServer, HasALoopForEveryCoreUnlessItIsTold) {
  const TurtleServer server(kAnyPort);
  EXPECT_EQ(server.Loopers().size(), std::max(1U, std::thread::hardware_concurrency()));
}

TEST(TurtleServer, ListensOnSeveralAddresses) {
  TurtleServer server(kAnyPort, Threads(2));
  server.OnHandle(Echo);
  try {
    server.AlsoListen(NetAddress("::1", server.LocalAddress().Port()));
  } catch (const std::system_error& error) {
    GTEST_SKIP() << "this machine has no IPv6: " << error.what();
  }
  const ServerThread thread(server);
  Client over_ipv4(server.LocalAddress().Port());
  Client over_ipv6(server.LocalAddress().Port(), "::1");
  ExpectEcho(over_ipv4);
  ExpectEcho(over_ipv6);
}

TEST(TurtleServer, ClosesAClientWhoseDeadlineHasPassedUnlessItIsTold) {
  int timeouts = 0;
  TurtleServer server(kAnyPort, Threads(1));
  const auto await = [](Connection* client) {
    client->GetLooper()->SetDeadline(client,
                                     client->GetLooper()->Now() + std::chrono::milliseconds(30));
  };
  server.OnAccept(await).OnHandle(Echo).OnTimeout([&](Connection* client) {
    if (++timeouts < 3) {
      await(client);
      return;
    }
    client->WriteToWriteBuffer("time is up");
    client->GetLooper()->DeleteConnection(client->GetFd());
  });
  const ServerThread thread(server);
  Client client(server.LocalAddress().Port());
  EXPECT_EQ(client.ReceiveAll(), "time is up");
  EXPECT_TRUE(client.Ended());
}

// --- its end ------------------------------------------------------------------------------------

TEST(TurtleServer, AnotherThreadMayStopIt) {
  TurtleServer server(kAnyPort, Threads(3));
  server.OnHandle(Echo);
  ServerThread thread(server);
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {  // one on each loop
    clients.emplace_back(server.LocalAddress().Port());
    ExpectEcho(clients.back());
  }
  server.Stop();
  thread.Join();
  for (Client& client : clients) {
    EXPECT_EQ(client.ReceiveAll(), "");
    EXPECT_TRUE(client.Ended());
  }
  EXPECT_THROW(Client late(server.LocalAddress().Port()), std::system_error);
}

TEST(TurtleServer, AHandlerMayStopIt) {
  TurtleServer server(kAnyPort, Threads(2));
  server.OnHandle([&](Connection* client) {
    Echo(client);
    if (client->UnsentBytes() != 0) {
      server.Stop();
    }
  });
  ServerThread thread(server);
  Client client(server.LocalAddress().Port());
  ASSERT_TRUE(client.Send("that is all"));
  EXPECT_EQ(client.ReceiveAll(), "that is all");
  thread.Join();
}

TurtleServer* to_stop = nullptr;

TEST(TurtleServer, ASignalHandlerMayStopIt) {
  TurtleServer server(kAnyPort, Threads(2));
  server.OnHandle(Echo);
  ServerThread thread(server);
  Client client(server.LocalAddress().Port());
  ExpectEcho(client);
  to_stop = &server;
  const auto before = std::signal(SIGUSR1, [](int) { to_stop->Stop(); });
  std::raise(SIGUSR1);
  thread.Join();
  std::signal(SIGUSR1, before);
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.Ended());
}

TEST(TurtleServer, StoppedBeforeItBeginsItEndsAtOnce) {
  TurtleServer server(kAnyPort, Threads(3));
  server.OnHandle(Echo);
  server.Stop();
  ServerThread(server).Join();
}

TEST(TurtleServer, AClientUnderWayGetsItsBytes) {
  const std::string reply = Pattern(std::size_t{8} * 1024 * 1024);
  TurtleServer server(kAnyPort, Threads(2));
  server.OnAccept([&](Connection* client) { client->WriteToWriteBuffer(reply); }).OnHandle(Echo);
  ServerThread thread(server);
  std::vector<Client> clients;
  std::vector<std::string> received;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back(server.LocalAddress().Port());
    received.push_back(clients.back().Receive(1));
  }
  server.Stop();
  for (std::size_t i = 0; i < clients.size(); ++i) {
    received[i] += clients[i].ReceiveAll();
    EXPECT_TRUE(received[i] == reply) << received[i].size() << " bytes";
    EXPECT_TRUE(clients[i].Ended());
  }
  thread.Join();
}

TEST(TurtleServer, OnStopMaySayGoodbyeAndWaitForTheAnswer) {
  TurtleServer server(kAnyPort, Threads(2));
  server
      .OnHandle([](Connection* client) {
        Echo(client);
        if (client->GetLooper()->Stopping() && client->UnsentBytes() != 0) {
          client->GetLooper()->DeleteConnection(client->GetFd());
        }
      })
      .OnStop([](Connection* client) {
        client->WriteToWriteBuffer("goodbye");
        client->Send();
      });
  ServerThread thread(server);
  std::vector<Client> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back(server.LocalAddress().Port());
    ExpectEcho(clients.back());
  }
  server.Stop();
  for (Client& client : clients) {
    EXPECT_EQ(client.Receive(7), "goodbye");
  }
  EXPECT_THROW(Client late(server.LocalAddress().Port()), std::system_error) << "the door is shut";
  for (Client& client : clients) {
    ASSERT_TRUE(client.Send("and thanks"));
    EXPECT_EQ(client.ReceiveAll(), "and thanks");
    EXPECT_TRUE(client.Ended());
  }
  thread.Join();
}

TEST(TurtleServer, WhoDoesNotFinishIsCutOffAfterTheStopTimeout) {
  ServerOptions options = Threads(2);
  options.stop_timeout = std::chrono::milliseconds(30);
  TurtleServer server(kAnyPort, options);
  server.OnHandle(Echo).OnStop([](Connection*) {});
  ServerThread thread(server);
  std::vector<Client> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back(server.LocalAddress().Port());
    ExpectEcho(clients.back());
  }
  server.Stop();
  EXPECT_TRUE(thread.EndsWithin(std::chrono::seconds(4))) << "it has taken its default for ours";
  for (Client& client : clients) {
    client.ReceiveAll();
    EXPECT_TRUE(client.Ended());
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
