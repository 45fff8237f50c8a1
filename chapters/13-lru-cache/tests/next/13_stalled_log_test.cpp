// A log that nobody reads must not stop the server.
#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
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
  test::RunningServer server([](Exchange& exchange) {
    if (exchange.GetRequest().target == "/fails") {
      throw std::runtime_error("as it was asked to");
    }
    exchange.Reply(Response(200).Body("fine"));
  });
  const test::StalledStderr stalled;
  test::Client unlucky(server.Port());
  test::Client neighbour(server.Port());
  ASSERT_TRUE(unlucky.Send(Get("/fails")));  // a line of log
  ASSERT_TRUE(neighbour.Send(Get("/")));
  pollfd reply{neighbour.GetSocket().GetFd(), POLLIN, 0};
  EXPECT_EQ(::poll(&reply, 1, 5000), 1) << "the loop waits for whoever reads stderr";
}

}  // namespace
}  // namespace TURTLE_SERVER
