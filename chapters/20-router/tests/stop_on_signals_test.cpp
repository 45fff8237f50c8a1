// A server that a signal stops.
#include <gtest/gtest.h>

#include <csignal>

#include "support/client.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {
namespace {

auto HandlerOf(int number) {
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  return now.sa_handler;
}

TEST(StopOnSignals, OneSignalStopsAndTheNextIsHandledAsBefore) {
  for (const int number : {SIGINT, SIGTERM}) {
    const auto before = std::signal(number, SIG_IGN);
    HttpServer server(NetAddress("127.0.0.1", 0));
    server.StopOnSignals();
    Looper& loop = *server.Loopers().front();
    bool was_raised = false;
    bool was_late = false;
    loop.RunAfter(Clock::duration::zero(), [&] { was_raised = std::raise(number) == 0; });
    loop.RunAfter(test::kPatience, [&] {
      was_late = true;
      server.Stop();
    });
    server.Begin();
    EXPECT_TRUE(was_raised) << number;
    EXPECT_FALSE(was_late) << number;
    EXPECT_EQ(HandlerOf(number), SIG_IGN) << number;
    std::signal(number, before);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
