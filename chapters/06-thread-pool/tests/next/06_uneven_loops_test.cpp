// The clients must be spread over the loops, however busy some loops are when they connect.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "support/client.h"
#include "support/server_under_test.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ServerUnderTest;

TEST(UnevenLoops, EachLoopGetsItsShareOfTheClients) {
  ServerUnderTest server({[](Connection* client) { client->WriteToWriteBuffer("welcome"); },
                          [](Connection* client) {
                            if (client->Recv().exit) {
                              client->GetLooper()->DeleteConnection(client->GetFd());
                            }
                          }});
  constexpr std::size_t kEach = 4;
  std::vector<Client> clients;
  // Two loops are busy when the clients connect, and the first loop continues before them.
  server.WhileItStandsStill(2, [&] {
    server.WhileItStandsStill(1, [&] {
      server.WhileItStandsStill(0, [&] {
        for (std::size_t i = 0; i < kEach * ServerUnderTest::kLoops; ++i) {
          clients.emplace_back(server.Port());
        }
      });
      // Clients are accepted together. When the first is welcomed, no other is still waiting.
      ASSERT_EQ(clients.front().Receive(7), "welcome");
    });
  });
  for (std::size_t i = 1; i < clients.size(); ++i) {
    ASSERT_EQ(clients[i].Receive(7), "welcome");
  }
  for (const std::size_t load : server.Loads()) {
    EXPECT_EQ(load, kEach) << "connections of one of the loops";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
