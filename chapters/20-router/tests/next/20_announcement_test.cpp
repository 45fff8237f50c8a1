// A client that waits for news gets it, although another client of the same loop has to bring it.
#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
#include <string>

#include "support/child.h"
#include "support/client.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

TEST(Announcement, AClientThatWaitsHearsWhatAnotherOneSays) {
  test::ExampleServer program("announcements");
  test::Client listener(program.Port());
  ASSERT_TRUE(listener.Send("GET /events HTTP/1.0\r\n\r\n"));
  ASSERT_TRUE(test::AwaitReady(listener.GetSocket().GetFd(), POLLIN)) << "from now on it is told";
  test::HttpClient speaker(program.Port());
  const std::string text = "slow and steady";
  EXPECT_EQ(speaker
                .Ask("POST /say HTTP/1.1\r\nHost: t\r\nContent-Length: " +
                     std::to_string(text.size()) + "\r\n\r\n" + text)
                .status,
            204);
  program.Signal(SIGTERM);
  const std::string heard = listener.ReceiveAll();
  EXPECT_NE(heard.find(text), std::string::npos) << "it heard this instead:\n" << heard;
  EXPECT_EQ(program.Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
