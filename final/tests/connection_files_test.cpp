// A connection's unsent parts of files are counted, whatever their length.
#include <gtest/gtest.h>

#include <string>

#include "core/connection.h"
#include "core/looper.h"
#include "support/loop_thread.h"
#include "support/narrow_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;

constexpr std::size_t kFiles = Connection::kHighFiles;

TEST(ConnectionFiles, AreCountedUntilTheyAreSentWhole) {
  test::NarrowPair pair;
  const UniqueFd file = test::MakeFile("0123456789");
  OutQueue queue;
  EXPECT_EQ(queue.Files(), 0U);
  queue.Append("head");
  EXPECT_EQ(queue.Files(), 0U);
  queue.AppendFile({file.Get(), 2, 3});
  queue.AppendFile({file.Get(), 0, 0});  // nothing
  queue.Append("between");
  queue.AppendFile({file.Get(), 9, 1});
  EXPECT_EQ(queue.Files(), 2U);
  EXPECT_EQ(queue.FlushTo(pair.sender, false).status, IoStatus::kBytes);
  EXPECT_EQ(queue.Files(), 0U);
  EXPECT_EQ(pair.ReadExactly(15), "head234between9");
  queue.AppendFile({file.Get(), 2, 3});
  queue.Clear();
  EXPECT_EQ(queue.Files(), 0U);
}

// Some bytes of many files used to hold as many descriptors.
TEST(ConnectionFiles, MoreThanAFewPauseTheConnectionUntilTheyAreSent) {
  const UniqueFd file = test::MakeFile("0123456789");
  int calls = 0;
  const ConnectionCallbacks callbacks{{}, [&](Connection* connection) {
                                        ++calls;
                                        connection->Recv();
                                        connection->ClearReadBuffer();
                                      }};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  ASSERT_TRUE(loop.Await([&] { return calls == 1; }));
  std::string expected;
  loop.Ask([&] {
    Connection* connection = loop.Get().Find(id);
    ASSERT_NE(connection, nullptr);
    for (std::size_t i = 0; i < kFiles; ++i) {
      connection->WriteFile({file.Get(), i, 1});
      expected += static_cast<char>('0' + i);
    }
    EXPECT_FALSE(connection->Paused());
    connection->WriteFile({file.Get(), 9, 1});
    expected += '9';
    EXPECT_TRUE(connection->Paused());
    connection->Send();
    EXPECT_FALSE(connection->Paused());
  });
  EXPECT_EQ(client.Receive(kFiles + 1), expected);
  EXPECT_TRUE(loop.Await([&] { return calls == 2; }));  // it may have been waiting for room
}

// Both the unsent bytes and the unsent files must be few.
TEST(ConnectionFiles, ThePauseEndsWhenBothAreFew) {
  const std::string large(4 * Connection::kHighWater, 'x');  // more than two narrow sockets hold
  const UniqueFd file = test::MakeFile("0123456789");
  int calls = 0;
  const ConnectionCallbacks callbacks{{}, [&](Connection* connection) {
                                        ++calls;
                                        connection->Recv();
                                        connection->ClearReadBuffer();
                                      }};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  ASSERT_TRUE(loop.Await([&] { return calls == 1; }));
  loop.Ask([&] {
    Connection* connection = loop.Get().Find(id);
    ASSERT_NE(connection, nullptr);
    test::ShrinkSendBuffer(connection->GetFd());
    connection->WriteToWriteBuffer(large);
    for (std::size_t i = 0; i <= kFiles; ++i) {
      connection->WriteFile({file.Get(), 0, 10});
    }
    connection->WriteToWriteBuffer(large);
    connection->Send();
    EXPECT_TRUE(connection->Paused());
  });
  const std::size_t size = 10 * (kFiles + 1) + 2 * large.size();
  EXPECT_EQ(client.Receive(size).size(), size);
  EXPECT_TRUE(loop.Await([&] { return calls == 2; }));
}

}  // namespace
}  // namespace TURTLE_SERVER
