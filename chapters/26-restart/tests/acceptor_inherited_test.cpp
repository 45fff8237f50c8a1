// A listener comes with its last owner's settings, and serves with those of its new owner.
#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "core/acceptor.h"
#include "core/tcp.h"
#include "support/client.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

TEST(AcceptorInherited, NobodyIsKeptBackAnyMoreWhoWasByThePredecessor) {
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  const int port = listener.LocalAddress().Port();
  DeferAccept(listener.GetFd(), std::chrono::minutes(10));
  int accepted = 0;  // the loop's
  const ConnectionCallbacks callbacks{[&accepted](Connection*) { ++accepted; }, [](Connection*) {}};
  test::LoopThread loop;
  Acceptor acceptor(loop.Get(), std::move(listener), {&loop.Get()}, callbacks);
  loop.Ask([&] { acceptor.Start(); });
  const test::Client silent(port);
  EXPECT_TRUE(loop.Await([&] { return accepted == 1; }));
  loop.Ask([&] { acceptor.Stop(); });
}

}  // namespace
}  // namespace TURTLE_SERVER
