#include "core/stop_signals.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "core/turtle_server.h"
#include "support/client.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ServerThread;

constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};

// Has each test find the signals as a shell leaves them, and leave them so.
class StopSignalsTest : public testing::Test {
 protected:
  StopSignalsTest() : server_(NetAddress("127.0.0.1", 0), OneThread()) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    server_.OnHandle(Echo);
  }

  ~StopSignalsTest() override {
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
  }

  static auto OneThread() -> ServerOptions {
    ServerOptions options;
    options.threads = 1;
    return options;
  }

  static void Echo(Connection* client) {
    const auto [read, exit] = client->Recv();
    if (exit) {
      client->GetLooper()->DeleteConnection(client->GetFd());
    } else if (read != 0) {
      client->WriteToWriteBuffer(client->Read());
      client->ClearReadBuffer();
    }
  }

  // Is there a handler? Without one the signal would end the tests.
  static auto IsCaught(int number) -> bool {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    return now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN;
  }

  TurtleServer server_;
};

TEST_F(StopSignalsTest, EachOfThemStopsTheServer) {
  for (const int number : kSignals) {
    TurtleServer server(NetAddress("127.0.0.1", 0), OneThread());
    server.OnHandle(Echo);
    const StopSignals signals(server);
    ASSERT_TRUE(IsCaught(number)) << "signal " << number;
    ServerThread thread(server);
    Client client(server.LocalAddress().Port());
    ASSERT_TRUE(client.Send("hello"));
    ASSERT_EQ(client.Receive(5), "hello");
    ::raise(number);
    thread.Join();
    EXPECT_EQ(client.ReceiveAll(), "");
    EXPECT_TRUE(client.Ended());
  }
}

TEST_F(StopSignalsTest, ItMayComeBeforeTheBeginning) {
  const StopSignals signals(server_);
  ASSERT_TRUE(IsCaught(SIGTERM));
  ::raise(SIGTERM);
  ServerThread(server_).Join();
}

TEST_F(StopSignalsTest, TheSecondEndsTheProcessWhicheverItIs) {
  for (const int first : kSignals) {
    for (const int second : kSignals) {
      EXPECT_EXIT(
          {
            const StopSignals signals(server_);
            if (!IsCaught(first)) {
              std::exit(1);
            }
            ::raise(first);
            ::raise(second);
            std::exit(0);
          },
          testing::KilledBySignal(second), "")
          << "signal " << first << ", then signal " << second;
    }
  }
}

TEST_F(StopSignalsTest, WhatWasBeforeIsBackWhenItGoes) {
  const auto mine = [](int) {};
  ::signal(SIGTERM, mine);
  for (const bool used : {false, true}) {
    {
      const StopSignals signals(server_);
      ASSERT_TRUE(IsCaught(SIGINT));
      if (used) {
        ::raise(SIGINT);
      }
    }
    EXPECT_FALSE(IsCaught(SIGINT));
    struct sigaction now {};
    ::sigaction(SIGTERM, nullptr, &now);
    EXPECT_EQ(now.sa_handler, static_cast<void (*)(int)>(mine)) << used;
  }
}

TEST_F(StopSignalsTest, WhatIsIgnoredStaysIgnored) {
  ::signal(SIGINT, SIG_IGN);
  {
    const StopSignals signals(server_);
    ASSERT_TRUE(IsCaught(SIGTERM));
    EXPECT_FALSE(IsCaught(SIGINT));
    ::raise(SIGINT);  // and would end the tests if it were not ignored
    ::raise(SIGTERM);
    ::raise(SIGINT);
  }
  ::raise(SIGINT);
}

// A system call of another thread, or of the one that was interrupted, may just be failing.
TEST_F(StopSignalsTest, TheHandlerLeavesErrnoAlone) {
  const StopSignals signals(server_);
  ASSERT_TRUE(IsCaught(SIGTERM));
  errno = 77;
  ::raise(SIGTERM);
  EXPECT_EQ(errno, 77);
}

}  // namespace
}  // namespace TURTLE_SERVER
