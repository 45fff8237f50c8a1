// Clients that are not let in: blocked addresses, and those above the limit.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/turtle_server.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/needs_ipv6.h"
#include "support/server_probe.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::Echo;
using test::IsServed;
using test::RunOn;
using test::ServerThread;

const NetAddress kAnyPort("127.0.0.1", 0);

auto OneLoop(std::size_t max_connections = 0) -> ServerOptions {
  ServerOptions options;
  options.threads = 1;
  options.max_connections = max_connections;
  return options;
}

// Runs `task` on the first loop and returns when it is done.
void Do(TurtleServer& server, const Task& task) { RunOn(*server.Loopers().front(), task); }

TEST(TurtleServerLimits, WhoIsBlockedIsClosedAndNobodyElse) {
  TURTLE_NEEDS_IPV6();
  TurtleServer server(kAnyPort, OneLoop());
  server.OnHandle(Echo);
  server.Block(CidrSet({"127.0.0.0/8", "2001:db8::/32"}));
  server.AlsoListen(NetAddress("::1", 0));
  const ServerThread running(server);
  const int port = server.LocalAddress().Port();
  Client early(port);
  EXPECT_EQ(early.ReceiveAll(), "");
  EXPECT_TRUE(early.Ended() || early.WasReset());

  Do(server, [&] { server.Block(CidrSet({"127.0.0.2"})); });
  Client let_in(port);
  EXPECT_TRUE(IsServed(let_in));

  Do(server, [&] { server.Block(CidrSet({"127.0.0.1"})); });
  Client again(port);
  EXPECT_EQ(again.ReceiveAll(), "");
  EXPECT_TRUE(IsServed(let_in)) << "who is in stays";

  Do(server, [&] { server.Block(CidrSet()); });
  Client last(port);
  EXPECT_TRUE(IsServed(last));
}

TEST(TurtleServerLimits, BlocksIpv6) {
  TURTLE_NEEDS_IPV6();
  TurtleServer server(NetAddress("::1", 0), OneLoop());
  server.OnHandle(Echo);
  server.Block(CidrSet({"::/64"}));
  const ServerThread running(server);
  Client client(server.LocalAddress().Port(), "::1");
  EXPECT_EQ(client.ReceiveAll(), "");
  Do(server, [&] { server.Block(CidrSet({"0.0.0.0/0"})); });
  Client other(server.LocalAddress().Port(), "::1");
  EXPECT_TRUE(IsServed(other));
}

TEST(TurtleServerLimits, WhoIsAboveTheLimitIsClosedAndNobodyElseNotices) {
  TurtleServer server(kAnyPort, OneLoop(2));
  std::atomic<int> accepted{0};
  server.OnAccept([&](Connection*) { ++accepted; }).OnHandle(Echo);
  const ServerThread running(server);
  const int port = server.LocalAddress().Port();
  Client first(port);
  Client second(port);
  EXPECT_TRUE(IsServed(first));
  EXPECT_TRUE(IsServed(second));
  for (int i = 0; i < 5; ++i) {
    Client above(port);
    EXPECT_EQ(above.ReceiveAll(), "");
    EXPECT_TRUE(above.Ended() || above.WasReset());
  }
  EXPECT_TRUE(IsServed(first));
  first.FinishSending();
  EXPECT_EQ(first.ReceiveAll(), "");
  Client third(port);
  EXPECT_TRUE(IsServed(third)) << "there is room again";
  EXPECT_TRUE(IsServed(second));
  EXPECT_EQ(accepted, 3);
}

TEST(TurtleServerLimits, ALastWordIsSentToWhoIsAboveTheLimit) {
  TurtleServer server(kAnyPort, OneLoop(1));
  server.OnHandle(Echo).OnFull([](Connection* client) { client->WriteToWriteBuffer("full"); });
  const ServerThread running(server);
  const int port = server.LocalAddress().Port();
  Client served(port);
  EXPECT_TRUE(IsServed(served));
  Client above(port);
  EXPECT_TRUE(above.Send("hello?")) << "sent before the answer is read, which must not be lost";
  EXPECT_EQ(above.ReceiveAll(), "full");
  EXPECT_TRUE(above.Ended());
  Client second(port);
  EXPECT_EQ(second.ReceiveAll(), "")
      << "one stays, so one may be on its way out, and that is taken";
  EXPECT_TRUE(second.WasReset());
  above.FinishSending();
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (server.Loopers().front()->ConnectionCount() > 1) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "its end was not noticed";
    ASSERT_NO_FATAL_FAILURE(Do(server, [] {}));
  }
  Client third(port);
  EXPECT_EQ(third.ReceiveAll(), "full");
  EXPECT_TRUE(IsServed(served));
}

TEST(TurtleServerLimits, WhoIsOnTheWayOutTakesNobodysPlace) {
  TurtleServer server(kAnyPort, OneLoop(1));
  server.OnHandle(Echo).OnFull([](Connection* client) { client->WriteToWriteBuffer("full"); });
  const ServerThread running(server);
  const int port = server.LocalAddress().Port();
  Client served(port);
  EXPECT_TRUE(IsServed(served));
  Client lingers(port);
  EXPECT_EQ(lingers.ReceiveAll(), "full");
  served.FinishSending();
  EXPECT_EQ(served.ReceiveAll(), "");
  Client next(port);
  EXPECT_TRUE(IsServed(next)) << "though the refused one has not closed yet";
}

TEST(TurtleServerLimits, TheLimitMayChange) {
  TurtleServer server(kAnyPort, OneLoop());
  server.OnHandle(Echo);
  const ServerThread running(server);
  const int port = server.LocalAddress().Port();
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(port);
    EXPECT_TRUE(IsServed(clients.back()));
  }
  server.SetMaxConnections(2);
  Client above(port);
  EXPECT_EQ(above.ReceiveAll(), "");
  for (Client& client : clients) {
    EXPECT_TRUE(IsServed(client)) << "nobody has to go for it";
  }
  server.SetMaxConnections(0);
  Client again(port);
  EXPECT_TRUE(IsServed(again));
}

TEST(TurtleServerLimits, TheLogHearsOfWhoIsAboveTheLimit) {
  const test::CapturedStderr log;
  TurtleServer server(kAnyPort, OneLoop(1));
  server.OnHandle(Echo);
  {
    const ServerThread running(server);
    const int port = server.LocalAddress().Port();
    Client served(port);
    EXPECT_TRUE(IsServed(served));
    EXPECT_EQ(log.Text(), "");
    EXPECT_EQ(Client(port).ReceiveAll(), "");
  }
  EXPECT_NE(log.Text().find("1 client refused: max_connections is 1\n"), std::string::npos)
      << "though the server ended before a second was over";
}

TEST(TurtleServerLimits, WithoutAListenerItDoesNotBegin) {
  TurtleServer server{OneLoop()};
  server.OnHandle(Echo);
  EXPECT_THROW(server.Begin(), std::logic_error);
}

}  // namespace
}  // namespace TURTLE_SERVER
