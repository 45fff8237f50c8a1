// A slow handler must not hold up the other handlers' clients.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "support/client.h"
#include "support/server_under_test.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ServerUnderTest;

TEST(SlowHandler, OtherClientsAreServedMeanwhile) {
  std::promise<void> begun;
  std::promise<void> end;
  const auto ended = end.get_future().share();
  ServerUnderTest server({{}, [&](Connection* client) {
                            const bool exit = client->Recv().exit;
                            const std::string request = client->ReadAsString();
                            client->ClearReadBuffer();
                            if (request == "work") {
                              begun.set_value();
                              ended.wait_for(test::kPatience);  // as long as it takes
                            }
                            client->WriteToWriteBuffer(request);
                            if (exit) {
                              client->GetLooper()->DeleteConnection(client->GetFd());
                            }
                          }});
  // There is a client for every loop. The last one to connect has work to do.
  std::vector<Client> clients;
  for (std::size_t i = 0; i < ServerUnderTest::kLoops; ++i) {
    clients.emplace_back(server.Port());
    ASSERT_TRUE(clients.back().Send("hello"));
    ASSERT_EQ(clients.back().Receive(5), "hello");
  }
  ASSERT_TRUE(clients.back().Send("work"));
  ASSERT_EQ(begun.get_future().wait_for(test::kPatience), std::future_status::ready);

  Client other(server.Port());
  ASSERT_TRUE(other.Send("hello"));
  EXPECT_EQ(other.Receive(5, std::chrono::seconds(5)), "hello")
      << "it waits for the work of somebody else";

  end.set_value();
  EXPECT_EQ(clients.back().Receive(4), "work");
}

}  // namespace
}  // namespace TURTLE_SERVER
