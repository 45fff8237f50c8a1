// The access logs and presets of sites in `turtle serve`, as its administrator sees them.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "app/serve_check.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/turtle.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::LogFolder;
using test::Turtle;

auto For(const std::string& host, const std::string& target) -> std::string {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

class ServeSiteLogsTest : public testing::Test {
 protected:
  ServeSiteLogsTest() { folder_.Write("site/index.html", "hello"); }

  // Returns a site with these other keys.
  [[nodiscard]] auto Site(const std::string& name, const std::string& keys) const -> std::string {
    return R"({"names": ")" + name + R"(", "root_path": ")" + folder_.Path("site") + "\"" +
           (keys.empty() ? "" : ", ") + keys + "}";
  }

  [[nodiscard]] auto Log(const std::string& file) const -> std::string {
    return R"("access_log": ")" + folder_.Path(file) + "\"";
  }

  // Writes the configuration: these sites, and a log of the server in JSON.
  void Configure(const std::string& sites) const {
    folder_.Write("turtle.json", R"({"port": 0, "worker_processes": 2, "sites": [)" + sites +
                                     R"(], "access_log": {"format": "json", "file": ")" +
                                     folder_.Path("server.log") +
                                     R"("}, "operations": {"address": "127.0.0.1:0"}, )" +
                                     R"("log": {"flush_second": 1, "file": ")" +
                                     folder_.Path("turtle.log") + "\"}}");
  }

  [[nodiscard]] auto Arguments() const -> std::vector<std::string> {
    return {"-f", folder_.Path("turtle.json")};
  }

  [[nodiscard]] auto Has(const std::string& file, const std::string& text) const -> bool {
    return folder_.Read(file).find(text) != std::string::npos;
  }

  // Waits until the file contains this text.
  [[nodiscard]] auto Await(const std::string& file, const std::string& text) const -> bool {
    const auto end = std::chrono::steady_clock::now() + test::kPatience;
    while (!Has(file, text) && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    return Has(file, text);
  }

  LogFolder folder_;
};

auto Ask(int port, const std::string& host, const std::string& target) -> int {
  return HttpClient(port).Ask(For(host, target)).status;
}

TEST_F(ServeSiteLogsTest, ARequestIsInTheLogOfItsSiteInTheFormatOfTheServer) {
  Configure(Site("a.test", Log("a.log")) + ", " + Site("b.test", ""));
  Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  EXPECT_EQ(Ask(turtle.Port(), "a.test", "/1"), 404);
  EXPECT_EQ(Ask(turtle.Port(), "b.test", "/2"), 404);
  EXPECT_EQ(Ask(turtle.Port(), "c.test", "/3"), 421);
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_TRUE(Has("a.log", R"("host":"a.test","request":"GET /1 HTTP/1.1","status":404,)"));
  EXPECT_FALSE(Has("server.log", "GET /1 "));
  EXPECT_TRUE(Has("server.log", R"("host":"b.test","request":"GET /2 HTTP/1.1","status":404,)"));
  EXPECT_TRUE(Has("server.log", R"("host":"c.test","request":"GET /3 HTTP/1.1","status":421,)"));
}

TEST_F(ServeSiteLogsTest, ALogBeginsAndEndsAtASignal) {
  Configure(Site("a.test", Log("a.log")) + ", " + Site("b.test", ""));
  Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  EXPECT_EQ(Ask(turtle.Port(), "a.test", "/1"), 404);
  ASSERT_TRUE(Await("a.log", "GET /1 "));
  Configure(Site("a.test", "") + ", " + Site("b.test", Log("b.log")));
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(Await("turtle.log", " INFO the settings were reloaded\n"));
  EXPECT_EQ(Ask(turtle.Port(), "a.test", "/2"), 404);
  EXPECT_EQ(Ask(turtle.Port(), "b.test", "/3"), 404);
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_FALSE(Has("a.log", "GET /2 "));
  EXPECT_TRUE(Has("server.log", "GET /2 "));
  EXPECT_TRUE(Has("b.log", "GET /3 "));
}

TEST_F(ServeSiteLogsTest, ALogThatCannotBeOpenedLeavesTheOldSettings) {
  Configure(Site("a.test", Log("a.log")));
  Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  Configure(Site("a.test,b.test", Log("none/a.log")));
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(Await("turtle.log", folder_.Path("none/a.log") + ": No such file or directory"));
  EXPECT_EQ(Ask(turtle.Port(), "b.test", "/1"), 421);
  EXPECT_EQ(Ask(turtle.Port(), "a.test", "/2"), 404);
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_TRUE(Has("a.log", "GET /2 "));
}

TEST_F(ServeSiteLogsTest, AMovedFileIsOpenedAnewAtASignal) {
  Configure(Site("a.test", Log("a.log")));
  Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  EXPECT_EQ(Ask(turtle.Port(), "a.test", "/1"), 404);
  ASSERT_TRUE(Await("a.log", "GET /1 "));
  std::filesystem::rename(folder_.Path("a.log"), folder_.Path("a.old"));
  turtle.Signal(SIGUSR1);
  const auto end = std::chrono::steady_clock::now() + test::kPatience;
  while (!std::filesystem::exists(folder_.Path("a.log"))) {
    ASSERT_EQ(Ask(turtle.Port(), "a.test", "/2"), 404);
    ASSERT_LT(std::chrono::steady_clock::now(), end);
  }
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_TRUE(Has("a.old", "GET /1 "));
  EXPECT_FALSE(Has("a.log", "GET /1 "));
}

TEST_F(ServeSiteLogsTest, TheMetricsHaveEachLogThatIsOpen) {
  Configure(Site("a.test", Log("a.log")));
  Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  const std::string line = turtle.ReadLine();
  const int port = std::stoi(line.substr(line.rfind(':') + 1));
  const auto has = [&](const std::string& log) {
    const std::string metrics = HttpClient(port).Ask(Get("/metrics")).body;
    const std::string series = "turtle_log_dropped_lines_total{log=\"" + log + "\"} 0\n";
    return metrics.find(series) != std::string::npos;
  };
  const std::string a = std::filesystem::canonical(folder_.Path()).string() + "/a.log";
  const std::string b = std::filesystem::canonical(folder_.Path()).string() + "/b.log";
  EXPECT_TRUE(has("access"));
  EXPECT_TRUE(has(a));
  EXPECT_FALSE(has(b));
  Configure(Site("a.test", Log("b.log")));
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(Await("turtle.log", " INFO the settings were reloaded\n"));
  EXPECT_FALSE(has(a));
  EXPECT_TRUE(has(b));
}

TEST_F(ServeSiteLogsTest, TheCheckNamesAFileThatCannotBeWritten) {
  ServeOptions options;
  options.port = 4507;
  options.directory = folder_.Path();
  options.sites.resize(3);
  for (std::size_t i = 0; i < options.sites.size(); ++i) {
    options.sites[i].names = {std::string(1, static_cast<char>('a' + i))};
    options.sites[i].root = folder_.Path();
  }
  options.sites[1].access_log = folder_.Path("a.log");
  EXPECT_EQ(ServeFaults(options), std::vector<std::string>());
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("a.log")));
  options.sites[2].access_log = folder_.Path("none/a.log");
  EXPECT_EQ(ServeFaults(options),
            std::vector<std::string>{"sites[2].access_log: '" + folder_.Path("none/a.log") +
                                     "': its directory " + folder_.Path("none") +
                                     ": No such file or directory"});
}

TEST_F(ServeSiteLogsTest, AResponseHasTheFieldsOfItsPresets) {
  Configure(Site("a.test", R"("rules": [{"presets": ["hsts", "no-frames", "revalidate"]},
      {"path": "/app", "presets": ["no-store"], "set": {"X-Frame-Options": "SAMEORIGIN"}}])"));
  Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  HttpClient client(turtle.Port());
  for (int i = 0; i < 2; ++i) {  // from the disk, and from the cache
    const test::HttpReply page = client.Ask(For("a.test", "/"));
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.Field("Strict-Transport-Security"), "max-age=31536000");
    EXPECT_EQ(page.Field("X-Frame-Options"), "DENY");
    EXPECT_EQ(page.Field("Content-Security-Policy"), "frame-ancestors 'none'");
    EXPECT_EQ(page.Field("Cache-Control"), "no-cache");
  }
  const test::HttpReply none = client.Ask(For("a.test", "/app/none"));
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(none.Field("Cache-Control"), "no-store");
  EXPECT_EQ(none.Field("X-Frame-Options"), "SAMEORIGIN");
  EXPECT_EQ(none.Field("Strict-Transport-Security"), "max-age=31536000");
}

}  // namespace
}  // namespace TURTLE_SERVER
