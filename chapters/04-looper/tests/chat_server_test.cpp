// The chat server as a program.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ExampleServer;

// A client that has learned who it is.
struct Guest {
  explicit Guest(const ExampleServer& server)
      : client(server.Port()), welcome(client.Receive(16)) {}

  Client client;
  std::string welcome;  // "you are guest 1\n"
};

TEST(ChatServer, ALineGoesToAllTheOthers) {
  const ExampleServer server("chat_server");
  Guest one(server);
  Guest two(server);
  Guest three(server);
  EXPECT_EQ(one.welcome, "you are guest 1\n");
  EXPECT_EQ(three.welcome, "you are guest 3\n");

  ASSERT_TRUE(two.client.Send("good morning\n"));
  EXPECT_EQ(one.client.Receive(22), "guest 2: good morning\n");
  EXPECT_EQ(three.client.Receive(22), "guest 2: good morning\n");
  ASSERT_TRUE(one.client.Send("hello\n"));
  EXPECT_EQ(two.client.Receive(15), "guest 1: hello\n") << "and not its own line before";
}

TEST(ChatServer, ALineIsALineHoweverItArrives) {
  const ExampleServer server("chat_server");
  Guest one(server);
  Guest two(server);
  ASSERT_TRUE(one.client.Send("go"));
  ASSERT_TRUE(two.client.Send("x\n"));
  ASSERT_EQ(one.client.Receive(11), "guest 2: x\n");  // the half line has arrived before this one
  ASSERT_TRUE(one.client.Send("od\nbetter\nbe"));
  EXPECT_EQ(two.client.Receive(30), "guest 1: good\nguest 1: better\n");
}

TEST(ChatServer, WhoLeavesIsMissedByNobody) {
  const ExampleServer server("chat_server");
  Guest one(server);
  Guest two(server);
  {
    Guest three(server);
    three.client.Reset();
  }
  Guest four(server);
  four.client.FinishSending();
  EXPECT_EQ(four.client.ReceiveAll(), "");
  EXPECT_TRUE(four.client.Ended());
  ASSERT_TRUE(one.client.Send("still there?\n"));
  EXPECT_EQ(two.client.Receive(22), "guest 1: still there?\n");
}

TEST(ChatServer, ALineWithoutEndEndsTheConnection) {
  const ExampleServer server("chat_server");
  Guest one(server);
  ASSERT_TRUE(one.client.Send(std::string(2000, 'x')));
  EXPECT_EQ(one.client.ReceiveAll(), "that line is too long\n");
  EXPECT_TRUE(one.client.Ended());
}

TEST(ChatServer, AGuestWhoNeverReadsIsShownTheDoorAndHoldsUpNobody) {
  const ExampleServer server("chat_server");
  Guest talker(server);
  Guest listener(server);
  Guest deaf(server);
  const std::string line = std::string(1000, 'x') + "\n";
  const std::size_t heard_bytes = line.size() + 9;
  // The kernel buffers some megabytes for the guest that doesn't read; then the server has to.
  const int lines = 20000;
  for (int i = 0; i < lines; ++i) {
    ASSERT_TRUE(talker.client.Send(line));
    ASSERT_EQ(listener.client.Receive(heard_bytes).size(), heard_bytes) << "line " << i;
  }
  EXPECT_LT(deaf.client.ReceiveAll().size(), lines * heard_bytes);
  EXPECT_TRUE(deaf.client.Ended() || deaf.client.WasReset());
}

TEST(ChatServer, EndsInGoodOrder) {
  ExampleServer server("chat_server");
  Guest one(server);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_EQ(one.client.ReceiveAll(), "");
  EXPECT_TRUE(one.client.Ended());
}

}  // namespace
}  // namespace TURTLE_SERVER
