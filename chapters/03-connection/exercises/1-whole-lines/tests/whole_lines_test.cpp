#include <gtest/gtest.h>

#include <string>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

TEST(WholeLines, AHalfLineWaitsForItsOtherHalf) {
  const test::ExampleServer server;
  test::Client client(server.Port());
  ASSERT_TRUE(client.Send("one\ntw"));
  EXPECT_EQ(client.Receive(4), "one\n");
  // If the half line were sent back, it would precede the next bytes.
  test::Client other(server.Port());
  ASSERT_TRUE(other.Send("other\n"));
  EXPECT_EQ(other.Receive(6), "other\n");
  ASSERT_TRUE(client.Send("o\nthree\nfo"));
  EXPECT_EQ(client.Receive(10), "two\nthree\n");
  EXPECT_EQ(client.Receive(1, std::chrono::milliseconds(0)), "");
}

TEST(WholeLines, TheRestComesWithTheEnd) {
  const test::ExampleServer server;
  test::Client client(server.Port());
  ASSERT_TRUE(client.Send("one\ntwo"));
  client.FinishSending();
  EXPECT_EQ(client.ReceiveAll(), "one\ntwo");
  EXPECT_TRUE(client.Ended());
}

TEST(WholeLines, ALineWithoutEndEndsTheConnection) {
  const test::ExampleServer server;
  test::Client client(server.Port());
  client.Send("short\n" + std::string(200'000, 'x'));  // it may end while this is sent
  const std::string received = client.ReceiveAll();
  EXPECT_TRUE(client.Ended() || client.WasReset());
  EXPECT_EQ(received.find('x'), std::string::npos);
  test::Client next(server.Port());
  ASSERT_TRUE(next.Send("still there?\n"));
  EXPECT_EQ(next.Receive(13), "still there?\n");
}

TEST(WholeLines, ALongLineIsALine) {
  const test::ExampleServer server;
  test::Client client(server.Port());
  const std::string line = std::string(65'535, 'x') + "\n";
  ASSERT_TRUE(client.Send(line + line));
  EXPECT_TRUE(client.Receive(2 * line.size()) == line + line);
}

}  // namespace
}  // namespace TURTLE_SERVER
