// Three servers must not need three command lines of forty words each.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/child.h"
#include "support/http_client.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

TEST(SettingsInAFile, AFileSaysAllThatTheServerHasToKnow) {
  const test::SiteFolder folder;
  folder.Write("site/index.html", "hello");
  folder.Write("site.json",
               "{\n  // which port it is, the system may choose\n  \"port\": 0,\n"
               "  \"worker_processes\": 2,\n  \"http\": {\"root_path\": \"" +
                   folder.Path("site") + "\"}\n}\n");
  test::Child turtle(test::ExamplePath("../turtle"), {"-f", folder.Path("site.json")});
  const std::string line = turtle.ReadLine();
  ASSERT_EQ(line.rfind("Serving ", 0), 0U) << line << turtle.ReadErrors();
  test::HttpClient client(std::stoi(line.substr(line.rfind(':') + 1)));
  EXPECT_EQ(client.Ask(test::Get("/")).body, "hello");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
