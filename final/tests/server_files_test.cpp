// A directory that the server serves after one call.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
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

// True if this process has the file open.
auto IsOpen(const std::string& name) -> bool {
  struct stat file {};
  struct stat open {};
  EXPECT_EQ(::stat(name.c_str(), &file), 0) << name;
  for (int fd = 0; fd < 1024; ++fd) {
    if (::fstat(fd, &open) == 0 && open.st_dev == file.st_dev && open.st_ino == file.st_ino) {
      return true;
    }
  }
  return false;
}

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

// The cache keeps a large file open, which shows whether there is a cache.
TEST(ServerFilesTest, OptionsThatSayNothingOfTheCacheKeepIt) {
  test::SiteFolder site;
  site.Write("large", std::string(std::size_t{100} * 1024, 'x'));
  const auto is_kept = [&site](const StaticFilesOptions& options) {
    RunningServer server([&](HttpServer& http) { http.Files("/", options); });
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(Get("/large")).status, 200);
    EXPECT_EQ(client.Ask(Get("/none")).status, 404);  // by now it is sent, and the file closed
    return server.Ask([&site] { return IsOpen(site.Path() + "/large"); });
  };
  StaticFilesOptions options;
  options.root = site.Path();
  const bool is_kept_untouched = is_kept(options);
  options.cache.max_bytes = std::size_t{64} << 20;
  EXPECT_EQ(is_kept_untouched, is_kept(options));  // true where the kernel can watch it
  options.cache.max_bytes = 0;
  EXPECT_FALSE(is_kept(options));
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
