// Closing::kReset: the client learns that it has not got everything.
#include <gtest/gtest.h>

#include <string>

#include "core/looper.h"
#include "support/loop_thread.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;

// This must hold however much of the client's input is unread in the kernel.
TEST(LooperReset, TheClientSeesAResetAndNoEnd) {
  for (const std::size_t unread : {std::size_t{0}, std::size_t{1}, std::size_t{70'000}}) {
    const ConnectionCallbacks callbacks{{}, [](Connection*) { /* reads nothing */ }};
    LoopThread loop;
    ConnectionId id{};
    Client client = loop.Connect(callbacks, &id);
    loop.Ask([&] {
      Connection* connection = loop.Get().Find(id);
      ASSERT_NE(connection, nullptr);
      test::WidenReceiveBuffer(connection->GetFd());
    });
    loop.Ask([&] {  // the bytes come while the loop is busy here: nobody takes them
      ASSERT_TRUE(client.Send(std::string(unread, 'x')));
      ASSERT_TRUE(unread == 0 || test::AwaitBytes(id.fd, unread));
      loop.Get().Find(id)->WriteToWriteBuffer("a part of the reply");
      loop.Get().DeleteConnection(id.fd, Closing::kReset);
    });
    client.ReceiveAll();
    EXPECT_TRUE(client.WasReset()) << "with " << unread << " bytes unread";
    EXPECT_FALSE(client.Ended()) << "with " << unread << " bytes unread";
    EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  }
}

TEST(LooperReset, WhoDoesNotReadIsNotWaitedFor) {
  const ConnectionCallbacks callbacks{{}, [](Connection*) { /* reads nothing */ }};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  loop.Ask([&] {
    test::ShrinkSendBuffer(id.fd);
    Connection* connection = loop.Get().Find(id);
    connection->WriteToWriteBuffer(std::string(std::size_t{8} * 1024 * 1024, 'x'));
    loop.Get().DeleteConnection(id.fd, Closing::kReset);
  });
  loop.RunRounds(2);
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U) << "its last bytes don't matter";
  client.ReceiveAll();
  EXPECT_TRUE(client.WasReset());
}

}  // namespace
}  // namespace TURTLE_SERVER
