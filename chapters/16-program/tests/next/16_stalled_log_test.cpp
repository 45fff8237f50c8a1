// A log that nobody reads must not stop the server.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <csignal>
#include <future>
#include <stdexcept>

#include "support/client.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/stalled_stderr.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;

TEST(StalledLog, ALoopGoesOnWhenNobodyReadsStderr) {
  std::signal(SIGPIPE, SIG_IGN);
  std::promise<void> failing;
  test::RunningServer server([&failing](Exchange& exchange) {
    if (exchange.GetRequest().target == "/fails") {
      failing.set_value();
      throw std::runtime_error("as it was asked to");
    }
    exchange.Reply(Response(200).Body("fine"));
  });
  const test::StalledStderr stalled;
  test::Client unlucky(server.Port());
  test::Client neighbour(server.Port());
  ASSERT_TRUE(unlucky.Send(Get("/fails")));  // a line of log
  ASSERT_EQ(failing.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  // The only loop is in the handler, and reads this when the line has been logged.
  ASSERT_TRUE(neighbour.Send(Get("/")));
  pollfd reply{neighbour.GetSocket().GetFd(), POLLIN, 0};
  EXPECT_EQ(::poll(&reply, 1, 5000), 1) << "the loop waits for whoever reads stderr";
}

}  // namespace
}  // namespace TURTLE_SERVER
