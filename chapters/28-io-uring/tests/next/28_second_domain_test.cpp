// One server must serve two domains, each from its own directory.
#include <gtest/gtest.h>

#include <string>

#include "support/http_client.h"
#include "support/site_folder.h"
#include "support/turtle.h"

namespace TURTLE_SERVER {
namespace {

auto Page(int port, const std::string& host) -> std::string {
  return test::HttpClient(port)
      .Ask("GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
      .body;
}

TEST(SecondDomain, HasItsOwnPage) {
  const test::SiteFolder folder;
  folder.Write("one/index.html", "the first");
  folder.Write("two/index.html", "the second");
  folder.Write("turtle.json", R"({"port": 0, "sites": [
      {"names": ["one.example"], "root_path": ")" +
                                  folder.Path("one") + R"("},
      {"names": ["two.example"], "root_path": ")" +
                                  folder.Path("two") + R"("}]})");
  test::Turtle turtle({"-f", folder.Path("turtle.json")});
  ASSERT_GT(turtle.Port(), 0) << turtle.FirstLine() << turtle.ReadErrors();
  EXPECT_EQ(Page(turtle.Port(), "one.example"), "the first");
  EXPECT_EQ(Page(turtle.Port(), "two.example"), "the second");
}

}  // namespace
}  // namespace TURTLE_SERVER
