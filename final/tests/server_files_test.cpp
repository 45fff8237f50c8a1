// A directory that the server serves by one call.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <system_error>

#include "files/static_files.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::RunningServer;

TEST(ServerFilesTest, ADirectoryIsServedUnderItsPrefix) {
  test::SiteFolder site;
  site.Write("index.html", "home");
  site.Write("sub/a.txt", "deep");
  const RunningServer server([&site](HttpServer& http) {
    http.Files("/", site.Path()).Files("/docs", site.Path() + "/sub");
    http.Get("/api", [](const ServerRequest&, ServerResponse& res) { res.Text("api"); });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).body, "home");
  EXPECT_EQ(client.Ask(Get("/sub/a.txt")).body, "deep");
  EXPECT_EQ(client.Ask(Get("/docs/a.txt")).body, "deep");
  EXPECT_EQ(client.Ask(Get("/api")).body, "api");
  EXPECT_EQ(client.Ask(Get("/none")).status, 404);
}

TEST(ServerFilesTest, OptionsCount) {
  test::SiteFolder site;
  site.Write("start.html", "home");
  site.Write(".hidden", "seen");
  StaticFilesOptions options;
  options.root = site.Path();
  options.index = "start.html";
  options.dot_files = true;
  const RunningServer server([&options](HttpServer& http) { http.Files("/", options); });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).body, "home");
  EXPECT_EQ(client.Ask(Get("/.hidden")).body, "seen");
}

TEST(ServerFilesTest, AMissingDirectoryIsNamedByBegin) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  server.Files("/", "no/such/directory");
  try {
    server.Begin();
    FAIL() << "it has begun";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("no/such/directory"), std::string::npos);
  }
}

TEST(ServerFilesTest, APrefixIsCheckedAsByMount) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  EXPECT_THROW(server.Files("site", "."), std::invalid_argument);
  EXPECT_THROW(server.Files("/site/", "."), std::invalid_argument);
}

}  // namespace
}  // namespace TURTLE_SERVER
