// A page that is computed must not need another server.
#include <gtest/gtest.h>

#include <string>

#include "support/child.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

TEST(DynamicPage, AProgramMakesIt) {
  const test::ExampleServer server("web_server", {"0", test::kExamplesDir});
  ASSERT_GT(server.Port(), 0) << server.FirstLine();
  test::HttpClient client(server.Port());
  const test::HttpReply reply = client.Ask(test::Get("/cgi-bin/add&1&2"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "1 + 2 = 3\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
