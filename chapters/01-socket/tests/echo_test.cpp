// The echo server as a program: that of every chapter must pass this.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/socket.h"
#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Child;
using test::Client;
using test::ExamplePath;
using test::ExampleServer;

TEST(EchoServer, SaysWhereItListens) {
  const ExampleServer server;
  EXPECT_GT(server.Port(), 0);
  EXPECT_EQ(server.FirstLine(), "listening on 127.0.0.1:" + std::to_string(server.Port()));
}

TEST(EchoServer, SendsBackWhatItReceives) {
  const ExampleServer server;
  Client client(server.Port());
  for (const char* text : {"hello\n", "x", "and again\n"}) {
    ASSERT_TRUE(client.Send(text));
    EXPECT_EQ(client.Receive(std::string(text).size()), text);
  }
}

TEST(EchoServer, SendsBackEveryByteThereIs) {
  const ExampleServer server;
  Client client(server.Port());
  std::string all;
  for (int i = 0; i < 65536; ++i) {
    all.push_back(static_cast<char>(i * 31 + i / 256));
  }
  ASSERT_TRUE(client.Send(all));
  EXPECT_TRUE(client.Receive(all.size()) == all);
}

TEST(EchoServer, AnswersAClientThatHasFinishedSending) {
  const ExampleServer server;
  Client client(server.Port());
  ASSERT_TRUE(client.Send("the last words"));
  client.FinishSending();
  EXPECT_EQ(client.ReceiveAll(), "the last words");
  EXPECT_TRUE(client.Ended()) << "the server closes after the client";
}

TEST(EchoServer, ServesTheNextClientAfterOneThatCrashed) {
  const ExampleServer server;
  for (int i = 0; i < 3; ++i) {
    Client crashing(server.Port());
    ASSERT_TRUE(crashing.Send(std::string(10000, 'x')));
    crashing.Reset();
  }
  Client client(server.Port());
  ASSERT_TRUE(client.Send("still there?"));
  EXPECT_EQ(client.Receive(12), "still there?");
}

TEST(EchoServer, ListensOnTheAddressThatItIsGiven) {
  const ExampleServer server("echo_server", {"0", "localhost"});
  EXPECT_EQ(server.FirstLine(),
            NetAddress("localhost", server.Port()).ToString().insert(0, "listening on "));
}

// Expects one line of errors and exit code 1.
void ExpectFailure(const std::vector<std::string>& arguments, const std::string& reason) {
  Child server(ExamplePath("echo_server"), arguments);
  ASSERT_EQ(server.Wait(), 1);
  const std::string errors = server.ReadErrors();
  EXPECT_NE(errors.find(reason), std::string::npos) << errors;
  EXPECT_EQ(errors.find('\n'), errors.size() - 1) << errors;
  EXPECT_EQ(server.ReadOutput(), "");
}

TEST(EchoServer, FailsOnAPortInUse) {
  const ExampleServer server;
  const std::string port = std::to_string(server.Port());
  ExpectFailure({port}, " 127.0.0.1:" + port + ": Address already in use");
}

TEST(EchoServer, FailsOnBadArguments) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"http"}, "http"},
      {{"80 "}, "80 "},
      {{""}, "port"},
      {{"70000"}, "70000"},
      {{"0", "127.1"}, "127.1"},
      {{"0", ""}, "address"},
      {{"0", "127.0.0.1", "1000", "too", "many"}, "usage"},
  };
  for (const auto& [arguments, reason] : cases) {
    ASSERT_NO_FATAL_FAILURE(ExpectFailure(arguments, reason));
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
