// Wherever memory runs out while a batch is accepted, no accepted client is forgotten.
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "core/acceptor.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/failing_new.h"
#include "support/handlers.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::Echo;
using test::FailAllocations;
using test::LoopThread;
using test::StopFailing;

// Returns how many allocations failed on the home loop while four clients came at once. All of them
// sent something, and got their response or were dropped.
auto FailFrom(std::size_t first, std::size_t count, LoopThread& home, LoopThread& target)
    -> std::size_t {
  const ConnectionCallbacks callbacks{{}, Echo};
  const test::CapturedStderr errors;
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  const int port = listener.LocalAddress().Port();
  Acceptor acceptor(home.Get(), std::move(listener), {&home.Get(), &target.Get()}, callbacks);
  home.Ask([&] { acceptor.Start(); });
  std::vector<Client> clients;
  home.Ask([&] { FailAllocations(first, count); });
  home.WhileItStandsStill([&] {
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back(port);
    }
  });
  for (Client& client : clients) {
    static_cast<void>(client.Send("hello"));  // a dropped client notices
    const std::string reply = client.Receive(5);
    EXPECT_TRUE(reply == "hello" || client.Ended() || client.WasReset())
        << "allocations from " << first << " on, " << count << " of them";
  }
  const std::size_t failed = home.Ask([] { return StopFailing(); });
  home.Ask([&] { acceptor.Stop(); });
  clients.clear();
  EXPECT_TRUE(home.Await([&] { return home.Get().ConnectionCount() == 0; }));
  EXPECT_TRUE(target.Await([&] { return target.Get().ConnectionCount() == 0; }));
  return failed;
}

TEST(AcceptorBatchMemory, WhoWasAcceptedIsServedOrClosed) {
  for (std::size_t count = 1; count <= 3; ++count) {
    std::size_t first = 1;
    std::size_t failed = 1;
    for (; failed != 0 && first < 40; ++first) {
      LoopThread home;
      LoopThread target;
      failed = FailFrom(first, count, home, target);
      ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(first, 5U) << "hardly anything was allocated";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
