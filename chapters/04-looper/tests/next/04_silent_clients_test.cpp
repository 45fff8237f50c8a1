// Clients that connect and say nothing must not hold their descriptors forever.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ExampleServer;

TEST(SilentClients, AreClosedAfterTheIdleTime) {
  const ExampleServer server("echo_server", {"0", "127.0.0.1", "300"});
  std::vector<Client> silent;
  for (int i = 0; i < 100; ++i) {
    silent.emplace_back(server.Port());
  }
  for (Client& client : silent) {
    EXPECT_EQ(client.ReceiveAll(std::chrono::seconds(5)), "");
    ASSERT_TRUE(client.Ended()) << "it still has its connection, and the server its descriptor";
  }
}

TEST(SilentClients, AreClosedAfterTheirLastWordToo) {
  const ExampleServer server("echo_server", {"0", "127.0.0.1", "1000"});
  Client client(server.Port());
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.ReceiveAll(std::chrono::seconds(5)), "hello");
  EXPECT_TRUE(client.Ended());
}

}  // namespace
}  // namespace TURTLE_SERVER
