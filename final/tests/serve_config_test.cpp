// `turtle -f site.json`, as its administrator sees it.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/child.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/unix_client.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;

// A server with its own configuration, and a log that is written line by line.
class ServeConfigTest : public testing::Test {
 protected:
  ServeConfigTest() {
    folder_.Write("site/index.html", "hello");
    folder_.Write("site/long.html", std::string(100, 'x'));
  }

  void Configure(const std::string& more) { Configure(2, more); }

  void ConfigureOneLoop(const std::string& more) { Configure(1, more); }

  [[nodiscard]] auto Http(const std::string& more) const -> std::string {
    return "\"http\": {\"root_path\": \"" + folder_.Path("site") + "\"" + more + "}";
  }

  [[nodiscard]] auto Arguments() const -> std::vector<std::string> {
    return {"-f", folder_.Path("site.json")};
  }

  [[nodiscard]] auto AwaitLog(const std::string& text) const -> bool {
    const auto end = std::chrono::steady_clock::now() + test::kPatience;
    while (folder_.Read("turtle.log").find(text) == std::string::npos) {
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      std::this_thread::yield();
    }
    return true;
  }

  test::LogFolder folder_;

 private:
  void Configure(int loops, const std::string& more) {
    folder_.Write("site.json", "{\"port\": 0, \"worker_processes\": " + std::to_string(loops) +
                                   ", \"log\": {\"file\": \"" + folder_.Path("turtle.log") +
                                   "\", \"flush_second\": 1}, // and\n" + more + "}");
  }
};

auto PortOf(const std::string& line) -> int {
  return line.rfind("Serving ", 0) == 0 ? std::stoi(line.substr(line.rfind(':') + 1)) : -1;
}

auto Post(std::size_t length) -> std::string {
  return "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" +
         std::string(length, 'x');
}

TEST_F(ServeConfigTest, ReadsItsSettingsAnewAndLosesNobody) {
  Configure(Http(", \"max_body_size\": 10"));
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  const int port = PortOf(turtle.ReadLine());
  ASSERT_GT(port, 0) << turtle.ReadErrors();
  HttpClient client(port);
  EXPECT_EQ(client.Ask(Get("/")).body, "hello");
  EXPECT_EQ(HttpClient(port).Ask(Post(11)).status, 413);

  Configure(Http(", \"max_body_size\": 11, \"cache_size\": \"1M\", \"dot_files\": true"));
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(AwaitLog(" INFO the settings were reloaded\n"));
  EXPECT_EQ(HttpClient(port).Ask(Post(12)).status, 413);
  EXPECT_EQ(HttpClient(port).Ask(Post(11)).status, 405) << "a file takes no body, but it was read";
  EXPECT_EQ(client.Ask(Get("/")).body, "hello") << "of the connection from before";
  const std::string log = folder_.Read("turtle.log");
  EXPECT_NE(
      log.find(" WARN http.cache_size is '64M' until the next start, and '1M' from then on\n"),
      std::string::npos)
      << log;
  for (const char* size : {"10", "11"}) {
    EXPECT_NE(
        log.find(std::string(" WARN http.max_body_size: ") + size + " means " + size + " bytes; "),
        std::string::npos)
        << log;
  }
  EXPECT_NE(log.find(" WARN http.dot_files is 'off' until the next start, and 'on' from then on\n"),
            std::string::npos)
      << log;
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}

TEST_F(ServeConfigTest, ABadFileChangesNothing) {
  Configure(Http(", \"max_body_size\": 10"));
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  const int port = PortOf(turtle.ReadLine());
  ASSERT_GT(port, 0) << turtle.ReadErrors();
  Configure(Http(", \"max_body_size\": 11, \"max_fields\": 0"));
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(AwaitLog(" ERROR the settings are unchanged\n"));
  const std::string log = folder_.Read("turtle.log");
  EXPECT_NE(log.find("site.json: http.max_fields: 0 is not a number from 1 to 65534\n"),
            std::string::npos)
      << log;
  EXPECT_EQ(HttpClient(port).Ask(Post(11)).status, 413);
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}

TEST_F(ServeConfigTest, AHangUpWithoutAFileIsLoggedAndEndsNobody) {
  test::Child turtle(test::ExamplePath("../turtle"),
                     {"serve", folder_.Path("site"), "--port", "0", "--threads", "2", "--log-file",
                      folder_.Path("turtle.log"), "--log-flush", "1"});
  const int port = PortOf(turtle.ReadLine());
  ASSERT_GT(port, 0) << turtle.ReadErrors();
  HttpClient client(port);
  EXPECT_EQ(client.Ask(Get("/")).body, "hello");
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(AwaitLog(" WARN SIGHUP: without a configuration (-f) there is nothing to reload\n"));
  turtle.Signal(SIGHUP);
  EXPECT_EQ(client.Ask(Get("/")).body, "hello");
  EXPECT_EQ(HttpClient(port).Ask(Get("/")).body, "hello");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}

TEST_F(ServeConfigTest, TheLevelOfTheLogCountsAtOnce) {
  Configure(Http(""));
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  ASSERT_GT(PortOf(turtle.ReadLine()), 0) << turtle.ReadErrors();
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(AwaitLog(" INFO the settings were reloaded\n"));
  folder_.Write("site.json", "{\"port\": 1, \"worker_processes\": 2, \"log\": {\"file\": \"" +
                                 folder_.Path("turtle.log") +
                                 "\", \"level\": \"WARN\", \"flush_second\": 1}, " + Http("") +
                                 "}");
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(AwaitLog(" WARN port is '0' until the next start, and '1' from then on\n"));
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  const std::string log = folder_.Read("turtle.log");
  EXPECT_EQ(log.find("were reloaded", log.find("were reloaded") + 1), std::string::npos)
      << "that is INFO\n"
      << log;
}

TEST_F(ServeConfigTest, ListensAtEveryAddress) {
  const std::string path = folder_.Path("socket");
  Configure(R"("address": ["127.0.0.1", "127.0.0.2", "unix:)" + path + "\"]," + Http(""));
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  const std::string line = turtle.ReadLine();
  const std::string start = "Serving " + folder_.Path("site") + " at http://127.0.0.1:";
  ASSERT_EQ(line.compare(0, start.size(), start), 0) << line << turtle.ReadErrors();
  const std::size_t second = line.find("/, http://127.0.0.2:");
  ASSERT_NE(second, std::string::npos) << line;
  EXPECT_EQ(line.substr(line.rfind("/, ")), "/, unix:" + path);
  EXPECT_EQ(HttpClient(std::stoi(line.substr(start.size()))).Ask(Get("/")).body, "hello");
  test::Client other(std::stoi(line.substr(second + 20)), "127.0.0.2");
  ASSERT_TRUE(other.Send(Get("/", "Connection: close\r\n")));
  EXPECT_NE(other.ReceiveAll().find("\r\n\r\nhello"), std::string::npos);
  {
    test::UnixClient client(path);
    ASSERT_TRUE(client.Connected());
    EXPECT_NE(client.Ask(Get("/", "Connection: close\r\n")).find("\r\n\r\nhello"),
              std::string::npos);
  }
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_FALSE(test::UnixClient(path).Connected());
}

TEST_F(ServeConfigTest, APlaceThatIsTakenIsNamed) {
  folder_.Write("socket", "a letter");
  Configure("\"address\": \"unix:" + folder_.Path("socket") + "\"," + Http(""));
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  EXPECT_EQ(turtle.ReadLine(), "");
  EXPECT_EQ(turtle.Wait(), 1);
  EXPECT_EQ(turtle.ReadErrors(),
            "turtle: bind unix:" + folder_.Path("socket") + ": Address already in use\n");
}

TEST_F(ServeConfigTest, WhoIsLetInMayChange) {
  ConfigureOneLoop("\"worker_connections\": 1," + Http(""));
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  const int port = PortOf(turtle.ReadLine());
  ASSERT_GT(port, 0) << turtle.ReadErrors();
  HttpClient first(port);
  EXPECT_EQ(first.Ask(Get("/")).status, 200);
  EXPECT_EQ(HttpClient(port).Ask(Get("/")).status, 503);

  ConfigureOneLoop("\"worker_connections\": 2," + Http(""));
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(AwaitLog(" INFO the settings were reloaded\n"));
  HttpClient second(port);
  EXPECT_EQ(second.Ask(Get("/")).status, 200);

  // Settings that need a restart are logged after all others have been applied.
  ConfigureOneLoop("\"blocks_ip\": [\"127.0.0.0/8\"]," + Http(", \"cache_size\": 0"));
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(AwaitLog(" WARN http.cache_size is "));
  EXPECT_EQ(test::Client(port).ReceiveAll(), "");
  EXPECT_EQ(first.Ask(Get("/")).status, 200) << "who is in stays";
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}

#ifdef __linux__
// It would compete with its own loop for one CPU, while others are idle.
TEST_F(ServeConfigTest, AProgramIsNotHeldOnItsLoopsCpu) {
  folder_.Write(
      "cgi/cpus",
      "#!/bin/sh\necho Content-Type: text/plain; echo; grep Cpus_allowed_list /proc/self/status\n");
  std::filesystem::permissions(folder_.Path("cgi/cpus"), std::filesystem::perms::owner_all);
  Configure("\"cpu_affinity\": true," + Http(", \"cgi_path\": \"" + folder_.Path("cgi") + "\""));
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  const int port = PortOf(turtle.ReadLine());
  ASSERT_GT(port, 0) << turtle.ReadErrors();
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line) && line.rfind("Cpus_allowed_list", 0) != 0) {
  }
  EXPECT_EQ(HttpClient(port).Ask(Get("/cgi-bin/cpus")).body, line + "\n");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}
#endif  // __linux__

TEST_F(ServeConfigTest, ABadFileIsNoServer) {
  Configure("\"prot\": 1");
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  EXPECT_EQ(turtle.ReadLine(), "");
  EXPECT_EQ(turtle.Wait(), 2);
  EXPECT_EQ(turtle.ReadErrors(), "turtle: " + folder_.Path("site.json") +
                                     ": \"prot\" is not a key; did you mean port?\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
