// A client that sends 8 MB before it reads any gets all of it back, and nobody waits for it.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ExampleServer;

auto NumberedLines(std::size_t bytes) -> std::string {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) {
    text += std::to_string(i) + '\n';
  }
  return text;
}

TEST(SlowReader, GetsEveryByteWhileOthersAreServed) {
  const ExampleServer server;
  const std::string all = NumberedLines(8 << 20);
  Client slow(server.Port());
  auto sent = std::async(std::launch::async, [&slow, &all] {
    slow.Send(all);
    slow.FinishSending();
  });
  // Waits until everything is sent, or nothing more can be: the server waits for the reader.
  sent.wait_for(std::chrono::seconds(1));

  Client other(server.Port());
  EXPECT_TRUE(other.Send("anybody there?"));
  EXPECT_EQ(other.Receive(14), "anybody there?");

  std::string received;
  while (received.size() < all.size()) {
    const std::string part = slow.Receive(10000);
    received += part;
    if (part.size() < 10000) {
      break;
    }
  }
  received += slow.ReceiveAll();
  sent.wait();
  EXPECT_EQ(received.size(), all.size());
  EXPECT_TRUE(received == all);
  EXPECT_TRUE(slow.Ended());
}

}  // namespace
}  // namespace TURTLE_SERVER
