#include "web/access_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "http/request.h"
#include "support/captured_stderr.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/running_server.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::LogFolder;

// A server with an access log, and the log's content at the server's end.
class LoggedServer {
 public:
  explicit LoggedServer(AccessLogFormat format = AccessLogFormat::kCombined) {
    LogWriterOptions options;
    options.file = folder_.Path("access.log");
    auto writer = std::make_shared<LogWriter>(options);
    server_ = std::make_unique<test::RunningServer>([&](HttpServer& server) {
      server.Observe([writer, format](Looper& looper) {
        return std::make_unique<AccessLog>(looper, writer, format);
      });
      server.Mount("/", test::Answering(Answer));
    });
  }

  [[nodiscard]] auto Port() const -> int { return server_->Port(); }

  auto Lines() -> std::vector<std::string> {
    server_.reset();
    std::istringstream text(folder_.Read("access.log"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
      lines.push_back(line);
    }
    return lines;
  }

 private:
  static void Answer(Exchange& exchange) {
    const std::string path(exchange.SubPath());
    if (path == "/never") {
      return;
    }
    if (path == "/throws") {
      throw std::runtime_error("as it was asked to");
    }
    if (path == "/pieces") {
      exchange.BeginReply(Response(200));
      exchange.Write("four");
      exchange.Write("more");
      exchange.End();
      return;
    }
    if (path == "/cut") {
      exchange.BeginReply(Response(200), 10);
      exchange.Write("half");
      exchange.Abort(500, "too late");
      return;
    }
    exchange.Reply(path == "/none" ? Response(204) : Response(200).Body("hello"));
  }

  LogFolder folder_;
  std::unique_ptr<test::RunningServer> server_;
};

auto Matches(const std::string& line, const std::string& rest) -> bool {
  const std::string start =
      R"(127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/20\d\d:\d\d:\d\d:\d\d \+0000\] )";
  return std::regex_match(line, std::regex(start + rest));
}

TEST(AccessLogTest, TellsOfEachRequestInTheCombinedFormat) {
  LoggedServer server;
  {
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(Get("/a?b=c", "Referer: http://r/\r\nUser-Agent: tests\r\n")).status, 200);
    EXPECT_EQ(client.Ask(Get("/none")).status, 204);
    EXPECT_EQ(client.Ask(Get("/pieces")).body, "fourmore");
    EXPECT_EQ(client.Ask("HEAD / HTTP/1.1\r\nHost: t\r\n\r\n", test::Asked::kHead).status, 200);
    EXPECT_EQ(client.Ask("GET / HTTP/1.0\r\n\r\n").status, 200);
  }
  const std::vector<std::string> lines = server.Lines();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(Matches(lines[0], R"("GET /a\?b=c HTTP/1\.1" 200 5 "http://r/" "tests")"))
      << lines[0];
  EXPECT_TRUE(Matches(lines[1], R"("GET /none HTTP/1\.1" 204 - "-" "-")")) << lines[1];
  EXPECT_TRUE(Matches(lines[2], R"("GET /pieces HTTP/1\.1" 200 8 "-" "-")")) << lines[2];
  EXPECT_TRUE(Matches(lines[3], R"("HEAD / HTTP/1\.1" 200 - "-" "-")")) << lines[3];
  EXPECT_TRUE(Matches(lines[4], R"("GET / HTTP/1\.0" 200 5 "-" "-")")) << lines[4];
}

TEST(AccessLogTest, TellsOfWhatWasNoRequest) {
  LoggedServer server;
  {
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask("GET /\x01\"\\ HTTP/9.9\r\nHost: t\r\n\r\n").status, 400);
  }
  const std::vector<std::string> lines = server.Lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(Matches(lines[0], R"("GET /\\x01\\"\\\\ HTTP/9\.9" 400 \d+ "-" "-")")) << lines[0];
}

TEST(AccessLogTest, TellsOfFailuresAndOfRepliesThatWereCut) {
  LoggedServer server;
  {
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(Get("/throws")).status, 500);
    EXPECT_FALSE(client.Ask(Get("/cut")).complete);
  }
  const std::vector<std::string> lines = server.Lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(Matches(lines[0], R"("GET /throws HTTP/1\.1" 500 \d+ "-" "-")")) << lines[0];
  EXPECT_TRUE(Matches(lines[1], R"("GET /cut HTTP/1\.1" 200 4 "-" "-")")) << lines[1];
}

TEST(AccessLogTest, TellsOfAClientThatHasGoneWhereItCameFrom) {
  LoggedServer server(AccessLogFormat::kJson);
  {
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(Get("/never")));
    HttpClient other(server.Port());
    ASSERT_EQ(other.Ask(Get("/")).status, 200);  // by then /never waits for its response
    client.Reset();
  }
  const std::vector<std::string> lines = server.Lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[1].find(R"("peer":"127.0.0.1","request":"GET /never HTTP/1.1","status":0,)"
                          R"("bytes":0,"complete":false,)"),
            std::string::npos)
      << lines[1];
}

// Single lines, from texts that none of our clients would send.
TEST(AccessLogTest, AFullBatchLeavesTheNextOneItsTime) {
  const test::CapturedStderr errors;
  const auto writer = std::make_shared<LogWriter>(LogWriterOptions());  // to stderr, at once
  test::ClockedServer server([&](Looper& looper, LoopHttp& http) {
    http.Observe(std::make_unique<AccessLog>(looper, writer, AccessLogFormat::kCombined));
    http.Mount("/",
               test::Answering([](Exchange& exchange) { exchange.Reply(Response(204)); })(looper));
  });
  HttpClient client(server.Port());
  const auto ask = [&](const std::string& path) {
    EXPECT_EQ(client.Ask(Get(path)).status, 204);
    server.Advance(std::chrono::milliseconds(0));  // its line is in the batch
  };
  const std::string long_path = "/" + std::string(AccessLog::kMaxBatch / 8, 'x');
  for (int i = 0; i < 8; ++i) {
    ask(long_path);
  }
  EXPECT_NE(errors.Text().find(long_path), std::string::npos) << "eight lines fill a batch";
  server.Advance(std::chrono::milliseconds(60));
  ask("/next");
  server.Advance(std::chrono::milliseconds(60));  // the time of the first batch
  EXPECT_EQ(errors.Text().find("/next"), std::string::npos);
  server.Advance(std::chrono::milliseconds(60));
  EXPECT_NE(errors.Text().find("/next"), std::string::npos);
}

class AccessLogLineTest : public testing::Test {
 protected:
  AccessLogLineTest() {
    line_.peer = "::1";
    line_.seconds = 0.25;
    record_.request = &request_;
    record_.status = 200;
    record_.body_bytes = 512;
  }

  static constexpr std::time_t kTime = 1769903999;  // 2026-01-31 23:59:59

  Request request_;
  AccessLogTime combined_time_{AccessLogFormat::kCombined};
  AccessLogTime json_time_{AccessLogFormat::kJson};
  AccessLogLine line_;
  Looper looper_;
  const ConnectionCallbacks callbacks_{};
  test::TcpPair pair_ = test::MakeTcpPair();
  ExchangeRecord record_{*looper_.AddConnection(pair_.server.Release(), callbacks_),
                         "GET / HTTP/1.1", nullptr};
};

TEST_F(AccessLogLineTest, Combined) {
  line_.time = combined_time_.At(kTime);
  std::string text;
  AppendCombined(line_, record_, text);
  EXPECT_EQ(text, "::1 - - [31/Jan/2026:23:59:59 +0000] \"GET / HTTP/1.1\" 200 512 \"-\" \"-\"\n");
}

TEST_F(AccessLogLineTest, Json) {
  line_.time = json_time_.At(kTime);
  std::string text;
  AppendJson(line_, record_, text);
  EXPECT_EQ(text, R"({"time":"2026-01-31T23:59:59Z","peer":"::1","request":"GET / HTTP/1.1",)"
                  R"("status":200,"bytes":512,"complete":true,"referer":null,"agent":null,)"
                  "\"seconds\":0.250}\n");
}

TEST_F(AccessLogLineTest, SecondsHaveThreeDecimals) {
  for (const auto& [seconds, wanted] :
       {std::pair(0.0, "0.000"), std::pair(0.0004, "0.000"), std::pair(0.0996, "0.100"),
        std::pair(59.9996, "60.000"), std::pair(86400.05, "86400.050")}) {
    line_.seconds = seconds;
    std::string text;
    AppendJson(line_, record_, text);
    EXPECT_NE(text.find(std::string("\"seconds\":") + wanted + "}"), std::string::npos) << text;
  }
}

TEST_F(AccessLogLineTest, ASecondIsWrittenOnce) {
  const std::string_view text = combined_time_.At(kTime);
  EXPECT_EQ(text, "31/Jan/2026:23:59:59 +0000");
  // If it were formatted again, this mark would be lost.
  const_cast<char&>(text.front()) = '*';
  EXPECT_EQ(combined_time_.At(kTime), "*1/Jan/2026:23:59:59 +0000");
  EXPECT_EQ(combined_time_.At(kTime + 1), "01/Feb/2026:00:00:00 +0000");
}

TEST_F(AccessLogLineTest, AClientCanNeitherEndALineNorItsQuotes) {
  record_.request_line = "GET /\" 200\n\x7f\xe9\\ HTTP/1.1";
  std::string combined;
  AppendCombined(line_, record_, combined);
  EXPECT_NE(combined.find(R"("GET /\" 200\x0a\x7f\xe9\\ HTTP/1.1")"), std::string::npos)
      << combined;
  std::string json;
  AppendJson(line_, record_, json);
  EXPECT_NE(json.find(R"("GET /\" 200\u000a\u007f\u00e9\\ HTTP/1.1")"), std::string::npos) << json;
}

}  // namespace
}  // namespace TURTLE_SERVER
