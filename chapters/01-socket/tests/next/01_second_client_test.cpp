// A client that says nothing must not keep the next one waiting.
#include <gtest/gtest.h>

#include <chrono>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ExampleServer;

TEST(SecondClient, IsServedWhileTheFirstIsThere) {
  const ExampleServer server;
  Client first(server.Port());
  ASSERT_TRUE(first.Send("hello"));
  ASSERT_EQ(first.Receive(5), "hello");

  Client second(server.Port());
  ASSERT_TRUE(second.Send("anybody there?"));
  EXPECT_EQ(second.Receive(14, std::chrono::seconds(2)), "anybody there?");

  ASSERT_TRUE(first.Send("me too"));
  EXPECT_EQ(first.Receive(6), "me too");
}

}  // namespace
}  // namespace TURTLE_SERVER
