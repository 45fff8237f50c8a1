#include <gtest/gtest.h>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

TEST(WhoCalls, EachClientIsAnnouncedByItsAddress) {
  test::ExampleServer server;
  for (int i = 0; i < 3; ++i) {
    test::Client client(server.Port());
    const std::string address = client.GetSocket().LocalAddress().ToString();
    EXPECT_EQ(server.ReadLine(), "client " + address);
  }
}

TEST(WhoCalls, AtOnceNotWhenTheClientIsServed) {
  test::ExampleServer server;
  test::Client client(server.Port());
  server.ReadLine();
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.Receive(5), "hello") << "and it is served as before";
}

}  // namespace
}  // namespace TURTLE_SERVER
