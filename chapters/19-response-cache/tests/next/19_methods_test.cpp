// A path knows its methods, and the response to another method lists them.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/child.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

TEST(Methods, ADeleteIsNoGreeting) {
  test::Child users(test::ExamplePath("users"), {"0"});
  const std::string line = users.ReadLine();
  test::HttpClient client(std::stoi(line.substr(line.rfind(':') + 1)));
  ASSERT_EQ(client.Ask(test::Get("/users/ada")).body, "hello, ada\n");
  const test::HttpReply reply = client.Ask("DELETE /users/ada HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(reply.status, 405) << reply.body;
  EXPECT_EQ(reply.Field("Allow"), "GET, HEAD, OPTIONS");
  users.Signal(SIGTERM);
  EXPECT_EQ(users.Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
