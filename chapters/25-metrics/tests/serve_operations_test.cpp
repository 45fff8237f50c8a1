// `turtle serve --operations`: its own listener, only on request.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "app/operations_server.h"
#include "app/options.h"
#include "app/serve_check.h"
#include "support/child.h"
#include "support/gate.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/stalled_stderr.h"
#include "support/turtle.h"
#include "support/unix_client.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;

auto Parse(const std::vector<const char*>& words) -> CommandLine {
  return ParseCommandLine(static_cast<int>(words.size()), words.data());
}

// Returns the port of the operations that a program reports.
auto PortOf(const std::string& line) -> int {
  const std::size_t colon = line.rfind(':');
  return line.rfind("Operations at http://", 0) == 0 ? std::stoi(line.substr(colon + 1)) : -1;
}

TEST(OperationsPlaceTest, IsAHostAndAPort) {
  using Place = std::pair<std::string, std::uint16_t>;
  EXPECT_EQ(ParseHostAndPort("127.0.0.1:9507"), Place("127.0.0.1", 9507));
  EXPECT_EQ(ParseHostAndPort("localhost:0"), Place("localhost", 0));
  EXPECT_EQ(ParseHostAndPort("[::1]:65535"), Place("::1", 65535));
  for (const std::string text :
       {"", ":", "9507", ":9507", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
        "127.0.0.1:99999999", "127.0.0.1:+1", "127.0.0.1: 1", "127.0.0.1:9x", "::1:9507", "[::1]",
        "[]:1", "[host]:1"}) {
    EXPECT_FALSE(ParseHostAndPort(text)) << text;
  }
}

TEST(OperationsOptionTest, APlaceThatCannotBeHadIsNamedByTheCheck) {
  using Lines = std::vector<std::string>;
  ServeOptions options;
  options.port = 4507;
  options.operations = "127.0.0.1:4508";
  EXPECT_EQ(ServeFaults(options), Lines());
  options.operations = "127.0.0.1:4507";
  EXPECT_EQ(ServeFaults(options), Lines{"operations.address: '127.0.0.1:4507': taken already, by "
                                        "address '127.0.0.1'"});
  options.address = "unix:/tmp/turtle-check";
  EXPECT_EQ(ServeFaults(options), Lines());
  options.operations = "unix:/tmp/turtle-check";
  EXPECT_EQ(ServeFaults(options).size(), 1U);
  options.operations = "unix:/no/such/folder/s,1.2.3:80";
  const Lines faults = ServeFaults(options);
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].rfind("operations.address: 'unix:/no/such/folder/s': ", 0), 0U) << faults[0];
  EXPECT_EQ(faults[1].rfind("operations.address: '1.2.3:80': ", 0), 0U) << faults[1];
}

TEST(OperationsOptionTest, IsAFlagAndAKeyAndOff) {
  const CommandLine none = Parse({"turtle", "serve", "/tmp"});
  EXPECT_EQ(none.serve.operations, "");
  EXPECT_EQ(none.serve.stuck_after, std::chrono::seconds(10));
  const CommandLine some = Parse({"turtle", "serve", "/tmp", "--operations",
                                  "127.0.0.1:9507,unix:/tmp/x", "--stuck-after", "3"});
  EXPECT_EQ(some.serve.operations, "127.0.0.1:9507,unix:/tmp/x");
  EXPECT_EQ(some.serve.stuck_after, std::chrono::seconds(3));
  for (const char* wrong : {"9507", "unix:", "::1:9507"}) {
    const CommandLine line = Parse({"turtle", "serve", "/tmp", "--operations", wrong});
    EXPECT_EQ(line.action, CommandAction::kFail);
    EXPECT_NE(line.text.find(wrong), std::string::npos) << line.text;
    EXPECT_NE(line.text.find("an address with a port"), std::string::npos) << line.text;
  }
  EXPECT_EQ(Parse({"turtle", "serve", "/tmp", "--stuck-after", "0"}).action, CommandAction::kFail);
}

TEST(ServeOperationsTest, ThePublicPortHasNoneOfIt) {
  test::LogFolder folder;
  folder.Write("site/index.html", "hello");
  test::Turtle turtle({folder.Path("site"), "--port", "0", "--operations", "127.0.0.1:0"});
  const int port = PortOf(turtle.ReadLine());
  ASSERT_GT(port, 0) << turtle.ReadErrors();
  ASSERT_NE(port, turtle.Port());
  for (const std::string path : {"/metrics", "/livez", "/readyz", "/events"}) {
    EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get(path)).status, 404) << path;
  }
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/")).body, "hello");
  EXPECT_EQ(HttpClient(port).Ask(Get("/livez")).body, "live\n");
  EXPECT_EQ(HttpClient(port).Ask(Get("/readyz")).body, "ready\n");
  const std::string metrics = HttpClient(port).Ask(Get("/metrics")).body;
  EXPECT_NE(metrics.find("cache_misses_total{cache=\"files\",loop=\"0\"}"), std::string::npos);
  EXPECT_NE(metrics.find("log_dropped_lines_total{log=\"errors\"} 0\n"), std::string::npos);
  EXPECT_EQ(metrics.find("turtle_pool"), std::string::npos) << "it has no threads for tasks";
  EXPECT_EQ(metrics.find("log=\"access\""), std::string::npos);
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_EQ(turtle.ReadErrors(), "");
}

TEST(ServeOperationsTest, WhatThereIsBesidesIsCounted) {
  test::LogFolder folder;
  folder.Write("site/index.html", "hello");
  folder.Write("programs/hello", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhello'\n");
  ASSERT_EQ(::chmod(folder.Path("programs/hello").c_str(), 0700), 0);
  test::Turtle turtle({folder.Path("site"), "--port", "0", "--operations", "127.0.0.1:0",
                       "--task-threads", "2", "--access-log", folder.Path("access.log"),
                       "--cgi-dir", folder.Path("programs"), "--response-cache", "on", "--threads",
                       "1"});
  const int port = PortOf(turtle.ReadLine());
  ASSERT_GT(port, 0) << turtle.ReadErrors();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/cgi-bin/hello")).body, "hello");
  }
  const std::string metrics = HttpClient(port).Ask(Get("/metrics")).body;
  EXPECT_NE(metrics.find("turtle_cache_hits_total{cache=\"responses\",loop=\"0\"} 2\n"),
            std::string::npos);
  EXPECT_NE(metrics.find("turtle_pool_threads 2\n"), std::string::npos);
  EXPECT_NE(metrics.find("turtle_log_dropped_lines_total{log=\"access\"} 0\n"), std::string::npos);
  EXPECT_NE(metrics.find("turtle_http_requests_total{loop=\"0\",code=\"200\"} 3\n"),
            std::string::npos);
}

TEST(ServeOperationsTest, ASocketInTheFileSystemWillDo) {
  test::LogFolder folder;
  folder.Write("site/index.html", "hello");
  const std::string path = folder.Path("operations.sock");
  test::Turtle turtle({folder.Path("site"), "--port", "0", "--operations", "unix:" + path});
  EXPECT_EQ(turtle.ReadLine(), "Operations at unix:" + path);
  const std::string reply =
      test::UnixClient(path).Ask("GET /livez HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(reply.substr(0, 15), "HTTP/1.1 200 OK");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "it takes its file away";
}

TEST(ServeOperationsTest, APlaceThatIsTakenIsToldByName) {
  test::LogFolder folder;
  folder.Write("site/index.html", "hello");
  Socket taken;
  taken.Bind(NetAddress("127.0.0.1", 0));
  taken.Listen();
  const std::string place = taken.LocalAddress().ToString();
  test::Turtle turtle({folder.Path("site"), "--port", "0", "--operations", place});
  EXPECT_EQ(turtle.Wait(), 1);
  EXPECT_NE(turtle.ReadErrors().find("turtle: bind " + place + ": "), std::string::npos);
}

TEST(ServeOperationsTest, AServerThatDrainsSaysSo) {
  test::LogFolder folder;
  folder.Write("site/index.html", "hello");
  folder.Write("programs/wait", "#!/bin/sh\necho Content-Type: text/plain; echo; exec cat\n");
  ASSERT_EQ(::chmod(folder.Path("programs/wait").c_str(), 0700), 0);
  test::Turtle turtle({folder.Path("site"), "--port", "0", "--operations", "127.0.0.1:0",
                       "--cgi-dir", folder.Path("programs"), "--stop-timeout", "60"});
  const int port = PortOf(turtle.ReadLine());
  ASSERT_GT(port, 0) << turtle.ReadErrors();
  std::optional<HttpClient> busy(turtle.Port());
  ASSERT_TRUE(busy->Send("POST /cgi-bin/wait HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\n"));
  const auto metrics = [port] { return HttpClient(port).Ask(Get("/metrics")).body; };
  ASSERT_TRUE(test::Await([&] {
    const std::string text = metrics();
    return text.find("} 1\n", text.find("\nturtle_http_requests_open")) <
           text.find("# HELP turtle_http_requests_total");
  }));
  turtle.Signal(SIGTERM);
  EXPECT_TRUE(
      test::Await([&] { return HttpClient(port).Ask(Get("/readyz")).body == "draining\n"; }));
  EXPECT_EQ(HttpClient(port).Ask(Get("/livez")).status, 200);
  ASSERT_TRUE(busy->Send("done"));
  EXPECT_EQ(busy->ReadReply().status, 200);
  busy.reset();
  EXPECT_EQ(turtle.Wait(), 0);
}

TEST(DroppedLinesTest, LinesAreCountedNotEntries) {
  test::StalledStderr stalled;
  LogWriterOptions options;
  options.by = WriteBy::kThread;
  options.queue_size = 4;
  options.patience = test::kPatience;
  LogWriter writer(options);
  for (int i = 0; i < 100; ++i) {
    writer.Write("one\ntwo\nlast " + std::to_string(i) + "\n");
  }
  stalled.ReadUntil("last 99\n");
  EXPECT_GE(writer.DroppedLines(), 3 * 90U);
  EXPECT_EQ(writer.DroppedLines(), 3 * writer.Dropped());
}

TEST(DroppedLinesTest, WithoutAThreadTheyAreCountedAtOnce) {
  const test::StalledStderr stalled;
  LogWriter writer(LogWriterOptions{});
  EXPECT_EQ(writer.DroppedLines(), 0U);
  writer.Write("one\ntwo\n");
  EXPECT_EQ(writer.DroppedLines(), 2U);
}

}  // namespace
}  // namespace TURTLE_SERVER
