// What was written down must be there after a restart.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/child.h"
#include "support/http_client.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

TEST(Restart, ANoteIsThereAfterwards) {
  const test::SiteFolder folder;
  {
    test::ExampleServer notes("notes", {"0", folder.Path("")});
    test::HttpClient client(notes.Port());
    const std::string post = "POST /notes HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nmilk";
    ASSERT_EQ(client.Ask(post).status, 201);
    ASSERT_EQ(client.Ask(test::Get("/notes")).body, R"(["milk"])");
    notes.Signal(SIGTERM);
    ASSERT_EQ(notes.Wait(), 0);
  }
  test::ExampleServer again("notes", {"0", folder.Path("")});
  EXPECT_EQ(test::HttpClient(again.Port()).Ask(test::Get("/notes")).body, R"(["milk"])");
  again.Signal(SIGTERM);
  EXPECT_EQ(again.Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
