#include <gtest/gtest.h>

#include <optional>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

TEST(HeadCount, IsToldWhenSomebodyComesOrGoes) {
  test::ExampleServer server;
  test::Client first(server.Port());
  EXPECT_EQ(server.ReadLine(), "1 client");
  std::optional<test::Client> second(server.Port());
  EXPECT_EQ(server.ReadLine(), "2 clients");
  second.reset();
  EXPECT_EQ(server.ReadLine(), "1 client");
  first.Reset();
  EXPECT_EQ(server.ReadLine(), "0 clients");
}

TEST(HeadCount, SaysNothingOfBytes) {
  test::ExampleServer server;
  test::Client client(server.Port());
  EXPECT_EQ(server.ReadLine(), "1 client");
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(client.Receive(5), "hello");
  client.FinishSending();
  EXPECT_EQ(server.ReadLine(), "0 clients");
}

}  // namespace
}  // namespace TURTLE_SERVER
