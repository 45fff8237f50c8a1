// A server that is asked to end must end by itself, rather than be killed: with its last work done,
// and with an exit code that says so.
#include <gtest/gtest.h>

#include <csignal>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ExampleServer;

void ExpectGoodEndBy(int signal) {
  ExampleServer server;
  Client client(server.Port());
  ASSERT_TRUE(client.Send("hello"));
  ASSERT_EQ(client.Receive(5), "hello");

  server.Signal(signal);
  EXPECT_EQ(server.Wait(), 0) << "128 + n: signal n has killed it";
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.Ended()) << "the client is told that it is over";
}

TEST(Stop, SigtermEndsTheServerInGoodOrder) { ExpectGoodEndBy(SIGTERM); }

TEST(Stop, SigintEndsTheServerInGoodOrder) { ExpectGoodEndBy(SIGINT); }

}  // namespace
}  // namespace TURTLE_SERVER
