// The limit of connections per address, on a server.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/turtle_server.h"
#include "core/unix_listener.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/needs_ipv6.h"
#include "support/server_probe.h"
#include "support/server_thread.h"
#include "support/site_folder.h"
#include "support/unix_client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::Echo;
using test::IsServed;
using test::RunOn;
using test::ServerThread;

const NetAddress kAnyPort("127.0.0.1", 0);

auto Limited(std::size_t most, std::size_t threads = 1) -> ServerOptions {
  ServerOptions options;
  options.threads = threads;
  options.address_limit.most = most;
  return options;
}

// Expects that one more client is refused.
void ExpectFull(int port, const std::string& word = "") {
  Client above(port);
  EXPECT_EQ(above.ReceiveAll(), word);
  EXPECT_TRUE(above.Ended() || above.WasReset());
}

// Waits until the first loop has this many connections: an end may be noticed late.
auto AwaitCount(TurtleServer& server, std::size_t count) -> bool {
  Looper& looper = *server.Loopers().front();
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (looper.ConnectionCount() != count && std::chrono::steady_clock::now() < deadline) {
    RunOn(looper, [] {});
  }
  return looper.ConnectionCount() == count;
}

TEST(TurtleServerAddresses, AClientAboveTheLimitIsRefusedUntilAnotherOneGoes) {
  TurtleServer server(kAnyPort, Limited(2));
  std::atomic<int> accepted{0};
  server.OnAccept([&](Connection*) { ++accepted; }).OnHandle(Echo).OnFull([](Connection* client) {
    client->WriteToWriteBuffer("full");
  });
  const ServerThread running(server);
  const int port = server.LocalAddress().Port();
  Client first(port);
  Client second(port);
  EXPECT_TRUE(IsServed(first));
  EXPECT_TRUE(IsServed(second));
  for (int i = 0; i < 5; ++i) {
    ExpectFull(port, "full");
  }
  EXPECT_TRUE(IsServed(second));
  EXPECT_EQ(server.GetRefusals().no_room, std::vector<std::uint64_t>{5});
  first.FinishSending();
  EXPECT_EQ(first.ReceiveAll(), "");
  ASSERT_TRUE(AwaitCount(server, 1));
  for (int i = 0; i < 3; ++i) {
    Client next(port);
    EXPECT_TRUE(IsServed(next)) << "its place is free again, " << i;
    next.Reset();
    ASSERT_TRUE(AwaitCount(server, 1));
  }
  EXPECT_EQ(accepted, 5);
}

TEST(TurtleServerAddresses, AllLoopsCountTogether) {
  TurtleServer server(kAnyPort, Limited(3, 4));
  server.OnHandle(Echo);
  const ServerThread running(server);
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(server.LocalAddress().Port());
    EXPECT_TRUE(IsServed(clients.back()));
  }
  for (int i = 0; i < 4; ++i) {
    ExpectFull(server.LocalAddress().Port());
  }
}

#ifdef __linux__  // where all of 127.0.0.0/8 is this machine
TEST(TurtleServerAddresses, AnotherAddressHasItsOwnPlaces) {
  TurtleServer server(kAnyPort, Limited(1));
  server.OnHandle(Echo);
  const ServerThread running(server);
  Client first(server.LocalAddress().Port());
  EXPECT_TRUE(IsServed(first));
  Socket other;
  other.Bind(NetAddress("127.0.0.2", 0));
  other.Connect(server.LocalAddress());
  ASSERT_EQ(other.Send("hello").bytes, 5U);
  std::string bytes(5, ' ');
  EXPECT_EQ(other.Recv(bytes.data(), bytes.size()).bytes, 5U);
  ExpectFull(server.LocalAddress().Port());
}
#endif  // __linux__

TEST(TurtleServerAddresses, ANetworkOfIpv6IsLimited) {
  TURTLE_NEEDS_IPV6();
  TurtleServer server(NetAddress("::1", 0), Limited(1));
  server.OnHandle(Echo);
  const ServerThread running(server);
  Client first(server.LocalAddress().Port(), "::1");
  EXPECT_TRUE(IsServed(first));
  Client above(server.LocalAddress().Port(), "::1");
  EXPECT_EQ(above.ReceiveAll(), "");
}

TEST(TurtleServerAddresses, ExemptAddressesHaveAnyNumber) {
  ServerOptions options = Limited(1);
  options.address_limit.exempt = CidrSet({"127.0.0.0/8"});
  TurtleServer server(kAnyPort, std::move(options));
  server.OnHandle(Echo);
  const ServerThread running(server);
  std::vector<Client> clients;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back(server.LocalAddress().Port());
    EXPECT_TRUE(IsServed(clients.back()));
  }
}

TEST(TurtleServerAddresses, ClientsOfAPathHaveAnyNumber) {
  const test::SiteFolder folder;
  const std::string path = folder.Path("socket");
  UnixListener listener(path);
  TurtleServer server(Limited(1));
  server.AlsoListen(listener.TakeSocket());
  server.OnHandle(Echo);
  const ServerThread running(server);
  const test::UnixClient first(path);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(test::UnixClient(path).Ask("hello", 5), "hello");
  }
}

TEST(TurtleServerAddresses, AClientWhoseBeginningFailsLosesItsPlace) {
  const test::CapturedStderr log;
  TurtleServer server(kAnyPort, Limited(1));
  std::atomic<int> failures{3};
  server.OnAccept([&](Connection*) {
    if (failures-- > 0) {
      throw std::runtime_error("no");
    }
  });
  server.OnHandle(Echo);
  const ServerThread running(server);
  for (int i = 0; i < 3; ++i) {
    ExpectFull(server.LocalAddress().Port());
    ASSERT_TRUE(AwaitCount(server, 0));
  }
  Client next(server.LocalAddress().Port());
  EXPECT_TRUE(IsServed(next));
}

TEST(TurtleServerAddresses, ARefusedClientHoldsNoPlace) {
  TurtleServer server(kAnyPort, Limited(1));
  server.OnHandle(Echo).OnFull([](Connection* client) { client->WriteToWriteBuffer("full"); });
  const ServerThread running(server);
  Client served(server.LocalAddress().Port());
  EXPECT_TRUE(IsServed(served));
  Client lingers(server.LocalAddress().Port());
  EXPECT_EQ(lingers.ReceiveAll(), "full");
  served.Reset();
  ASSERT_TRUE(AwaitCount(server, 1)) << "the refused one";
  Client next(server.LocalAddress().Port());
  EXPECT_TRUE(IsServed(next)) << "though the refused one has not closed yet";
}

TEST(TurtleServerAddresses, ManyRefusedClientsGetNoLastWord) {
  TurtleServer server(kAnyPort, Limited(1));
  server.OnHandle(Echo).OnFull([](Connection* client) { client->WriteToWriteBuffer("full"); });
  const ServerThread running(server);
  Client served(server.LocalAddress().Port());
  EXPECT_TRUE(IsServed(served));
  std::vector<Client> linger;
  for (std::size_t i = 0; i < TurtleServer::kLastWords; ++i) {
    linger.emplace_back(server.LocalAddress().Port());
    EXPECT_EQ(linger.back().ReceiveAll(), "full");
  }
  Client above(server.LocalAddress().Port());
  EXPECT_EQ(above.ReceiveAll(), "");
  EXPECT_TRUE(above.WasReset());
}

TEST(TurtleServerAddresses, TheLimitMayChange) {
  TurtleServer server(kAnyPort, Limited(0));
  server.OnHandle(Echo);
  const ServerThread running(server);
  const int port = server.LocalAddress().Port();
  Looper& looper = *server.Loopers().front();
  std::vector<Client> early;
  for (int i = 0; i < 3; ++i) {
    early.emplace_back(port);
    EXPECT_TRUE(IsServed(early.back()));
  }
  RunOn(looper, [&] { server.SetAddressLimit({1, {}}); });
  Client counted(port);
  EXPECT_TRUE(IsServed(counted)) << "the first one that is counted";
  ExpectFull(port);
  RunOn(looper, [&] { server.SetAddressLimit({1, CidrSet({"127.0.0.1"})}); });
  Client exempt(port);
  EXPECT_TRUE(IsServed(exempt));
  RunOn(looper, [&] { server.SetAddressLimit({}); });
  counted.Reset();
  ASSERT_TRUE(AwaitCount(server, 4));
  RunOn(looper, [&] { server.SetAddressLimit({1, {}}); });
  Client next(port);
  EXPECT_TRUE(IsServed(next)) << "its place was given back without a limit";
  ExpectFull(port);
}

TEST(TurtleServerAddresses, TheLogNamesTheLimit) {
  const test::CapturedStderr log;
  TurtleServer server(kAnyPort, Limited(1));
  server.OnHandle(Echo);
  {
    const ServerThread running(server);
    Client served(server.LocalAddress().Port());
    EXPECT_TRUE(IsServed(served));
    ExpectFull(server.LocalAddress().Port());
    ExpectFull(server.LocalAddress().Port());
  }
  EXPECT_NE(log.Text().find("2 clients refused: max_connections_per_address is 1\n"),
            std::string::npos)
      << log.Text();
}

}  // namespace
}  // namespace TURTLE_SERVER
