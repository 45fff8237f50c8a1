#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <regex>
#include <string>
#include <vector>

#include "bench/options.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kUrl = "http://127.0.0.1:20080/";

auto Parse(std::vector<const char*> arguments) -> BenchCommandLine {
  arguments.insert(arguments.begin(), "turtle-bench");
  arguments.push_back(nullptr);
  return ParseBenchCommandLine(static_cast<int>(arguments.size()) - 1, arguments.data());
}

auto RequestOf(const std::vector<const char*>& arguments) -> std::string {
  const BenchCommandLine line = Parse(arguments);
  EXPECT_EQ(line.action, BenchAction::kRun) << line.text;
  return RequestText(line.options);
}

TEST(BenchOptionsTest, AMessageComesAfterAHandshake) {
  const BenchCommandLine line = Parse({"--websocket", "64", "-H", "Origin: http://a", kUrl});
  ASSERT_EQ(line.action, BenchAction::kRun) << line.text;
  EXPECT_EQ(RequestText(line.options).size(), 2U + 4U + 64U);
  const std::string handshake = HandshakeText(line.options);
  EXPECT_NE(handshake.find("Upgrade: websocket\r\n"), std::string::npos);
  EXPECT_NE(handshake.find("Origin: http://a\r\n"), std::string::npos);
  EXPECT_EQ(handshake.substr(handshake.size() - 4), "\r\n\r\n");
}

TEST(BenchOptionsTest, TheUrlAloneHasDefaults) {
  const BenchCommandLine line = Parse({kUrl});
  ASSERT_EQ(line.action, BenchAction::kRun) << line.text;
  EXPECT_EQ(line.options.url_text, kUrl);
  EXPECT_EQ(line.options.url.port, 20080);
  EXPECT_EQ(line.options.connections, 64U);
  EXPECT_EQ(line.options.time, seconds(5));
  EXPECT_EQ(line.options.threads, 1U);
  EXPECT_EQ(line.options.mode, LoadMode::kKeepAlive);
  EXPECT_EQ(line.options.depth, 1U);
  EXPECT_EQ(line.options.rate, 0);
  EXPECT_EQ(line.options.read_size, 0U);
  EXPECT_EQ(line.options.timeout, seconds(10));
  EXPECT_FALSE(line.options.any_body);
  EXPECT_FALSE(line.options.echo);
  EXPECT_FALSE(line.options.quiet);
  EXPECT_EQ(line.options.json, "");
}

TEST(BenchOptionsTest, EveryOptionArrives) {
  const BenchCommandLine line =
      Parse({"-c", "10500",  "-t", "0.25",    "--threads",  "3", "--close", "--rate", "99.5",
             "-2", "--get",  "-H", "A: b",    "--timeout",  "2", "-H",      "C:d",    "--read-size",
             "8K", "--json", "-",  "--quiet", "--any-body", kUrl});
  ASSERT_EQ(line.action, BenchAction::kRun) << line.text;
  EXPECT_EQ(line.options.connections, 10500U);
  EXPECT_EQ(line.options.time, milliseconds(250));
  EXPECT_EQ(line.options.threads, 3U);
  EXPECT_EQ(line.options.mode, LoadMode::kClose);
  EXPECT_DOUBLE_EQ(line.options.rate, 99.5);
  EXPECT_EQ(line.options.minor_version, 1);
  EXPECT_EQ(line.options.fields, (std::vector<std::string>{"A: b", "C:d"}));
  EXPECT_EQ(line.options.timeout, seconds(2));
  EXPECT_EQ(line.options.read_size, 8192U);
  EXPECT_EQ(line.options.json, "-");
  EXPECT_TRUE(line.options.quiet);
  EXPECT_TRUE(line.options.any_body);
}

TEST(BenchOptionsTest, TlsVerifiesAndResumesUnlessToldOtherwise) {
  const BenchCommandLine line = Parse({"https://h/"});
  ASSERT_EQ(line.action, BenchAction::kRun) << line.text;
  EXPECT_EQ(line.options.url.port, 443);
  EXPECT_TRUE(line.options.verify);
  EXPECT_TRUE(line.options.resume);
  EXPECT_EQ(line.options.ca, "");
  EXPECT_EQ(RequestText(line.options), "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(Parse({"--ca", "roots.pem", "https://h/"}).options.ca, "roots.pem");
  EXPECT_FALSE(Parse({"--insecure", "https://h/"}).options.verify);
  EXPECT_FALSE(Parse({"--no-resume", "https://h/"}).options.resume);
  EXPECT_EQ(Parse({"--read-size", "64K", "https://h/"}).action, BenchAction::kRun);
}

TEST(BenchOptionsTest, ModesAndHabits) {
  EXPECT_EQ(Parse({"--keep-alive", kUrl}).options.mode, LoadMode::kKeepAlive);
  EXPECT_EQ(Parse({"--idle", kUrl}).options.mode, LoadMode::kIdle);
  const BenchCommandLine pipeline = Parse({kUrl, "--pipeline", "16"});
  EXPECT_EQ(pipeline.options.mode, LoadMode::kPipeline);
  EXPECT_EQ(pipeline.options.depth, 16U);
  EXPECT_EQ(Parse({"-1", kUrl}).options.minor_version, 0);
  EXPECT_EQ(Parse({"-c10", "-t5", "-2", "--get", kUrl}).options.connections, 10U);
  EXPECT_EQ(Parse({"--read-size", "64K", kUrl}).options.read_size, 0U) << "what the library does";
}

TEST(BenchOptionsTest, TheRequestIsAsShortAsCanBe) {
  EXPECT_EQ(RequestOf({kUrl}), "GET / HTTP/1.1\r\nHost: 127.0.0.1:20080\r\n\r\n");
  EXPECT_EQ(RequestOf({"--close", "http://h/a?b"}),
            "GET /a?b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(RequestOf({"--head", "-1", "http://[::1]/"}),
            "HEAD / HTTP/1.0\r\nHost: [::1]\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(RequestOf({"-H", "host: other", "-H", "X: y", "http://h/"}),
            "GET / HTTP/1.1\r\nhost: other\r\nX: y\r\n\r\n");
}

TEST(BenchOptionsTest, APostCarriesItsTextAndTheTextsLength) {
  EXPECT_EQ(RequestOf({"--post", "{\"a\":1}", "-H", "Content-Type: application/json", "http://h/"}),
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
            "Content-Length: 7\r\n\r\n{\"a\":1}");
  EXPECT_EQ(RequestOf({"--post", "", "http://h/"}), RequestOf({"http://h/"}));
}

TEST(BenchOptionsTest, WhatIsEchoedIsAReply) {
  EXPECT_EQ(RequestOf({"--echo", kUrl}),
            "HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\nabcdefghijklmnopqrstuvwxy");
  EXPECT_EQ(RequestOf({"--echo", kUrl}).size(), 64U);
  const BenchCommandLine pipeline = Parse({"--echo", "--pipeline", "16", kUrl});
  EXPECT_TRUE(pipeline.options.echo);
  EXPECT_EQ(pipeline.options.depth, 16U);
}

TEST(BenchOptionsTest, AMistakeIsOneLineThatNamesOptionAndValue) {
  struct Case {
    std::vector<const char*> arguments;
    std::vector<std::string> parts;
  };
  const std::string huge(300'000, 'x');
  const std::vector<Case> cases = {
      {{}, {"URL"}},
      {{"-c", "0", kUrl}, {"-c", "'0'", "1 to"}},
      {{"-c", "x", kUrl}, {"-c", "'x'"}},
      {{"-c", "-5", kUrl}, {"-5"}},
      {{"-c", "1.5", kUrl}, {"-c", "'1.5'"}},
      {{"-c", "99999999", kUrl}, {"-c", "99999999"}},
      {{"-c", "1", "-c", "2", kUrl}, {"-c"}},
      {{"-t", "0", kUrl}, {"-t", "'0'"}},
      {{"-t", "1e3", kUrl}, {"-t", "'1e3'"}},
      {{"-t", "inf", kUrl}, {"-t", "'inf'"}},
      {{"-t", ".5", kUrl}, {"-t", "'.5'"}},
      {{"-t", "1.2.3", kUrl}, {"-t", "'1.2.3'"}},
      {{"-t", "86401", kUrl}, {"-t", "86401"}},
      {{"--threads", "0", kUrl}, {"--threads", "'0'"}},
      {{"--threads", "3", "-c", "2", kUrl}, {"--threads", "connections"}},
      {{"--pipeline", "0", kUrl}, {"--pipeline", "'0'"}},
      {{"--pipeline", "10000", kUrl}, {"--pipeline", "10000", "256K"}},
      {{"--pipeline", "2", "--close", kUrl}, {"--pipeline", "one of them"}},
      {{"--keep-alive", "--close", kUrl}, {"--close", "one of them"}},
      {{"--get", "--head", kUrl}, {"--head", "one of them"}},
      {{"--post", "x", "--head", kUrl}, {"--post", "one of them"}},
      {{"--post", huge.c_str(), kUrl}, {"--post", "256K"}},
      {{"--post", "x", "--echo", kUrl}, {"--echo", "--post"}},
      {{"-1", "-2", kUrl}, {"-1", "one of them"}},
      {{"--echo", "--close", kUrl}, {"--echo", "--close"}},
      {{"--echo", "-H", "A: b", kUrl}, {"--echo", "-H"}},
      {{"--websocket", "64", "--close", kUrl}, {"--websocket", "--close"}},
      {{"--websocket", "64", "--echo", kUrl}, {"--websocket", "--echo"}},
      {{"--websocket", "0", kUrl}, {"--websocket", "0"}},
      {{"--websocket", "1M", kUrl}, {"--websocket", "1M"}},
      {{"--rate", "0", kUrl}, {"--rate", "'0'"}},
      {{"--rate", "nan", kUrl}, {"--rate", "'nan'"}},
      {{"--rate", "9", "--idle", kUrl}, {"--rate", "--idle"}},
      {{"--rate", "9", "--pipeline", "2", kUrl}, {"--rate", "--pipeline"}},
      {{"--read-size", "0", kUrl}, {"--read-size", "'0'"}},
      {{"--read-size", "17M", kUrl}, {"--read-size", "17M"}},
      {{"--read-size", "8KB", kUrl}, {"--read-size", "8KB"}},
      {{"--timeout", "0", kUrl}, {"--timeout", "'0'"}},
      {{"-H", "no colon", kUrl}, {"-H", "no colon"}},
      {{"-H", ": x", kUrl}, {"-H"}},
      {{"-H", "a b: x", kUrl}, {"-H", "a b: x"}},
      {{"-H", "A: b\r\nC: d", kUrl}, {"-H"}},
      {{"-H", "Connection: x", kUrl}, {"-H", "Connection"}},
      {{"-H", "Content-Length: 1", kUrl}, {"-H", "Content-Length"}},
      {{"--prot", kUrl}, {"--prot"}},
      {{"-9", kUrl}, {}},  // CLI11 may take -9 for the URL, and the URL for too many
      {{kUrl, kUrl}, {kUrl}},
      {{"ftp://h/"}, {"URL", "ftp://h/", "not supported"}},
      {{"--ca", "f", kUrl}, {"--ca", "https"}},
      {{"--insecure", kUrl}, {"--insecure", "https"}},
      {{"--no-resume", kUrl}, {"--no-resume", "https"}},
      {{"--insecure", "--ca", "f", "https://h/"}, {"--insecure", "--ca", "one of them"}},
      {{"--read-size", "8K", "https://h/"}, {"--read-size", "https"}},
      {{"localhost"}, {"URL", "localhost", "http://"}},
  };
  for (const Case& each : cases) {
    const BenchCommandLine line = Parse(each.arguments);
    std::string typed;
    for (const char* argument : each.arguments) {
      typed += std::string(" ") + argument;
    }
    EXPECT_EQ(line.action, BenchAction::kFail) << typed;
    EXPECT_EQ(line.text.rfind("turtle-bench: ", 0), 0U) << line.text;
    EXPECT_EQ(std::count(line.text.begin(), line.text.end(), '\n'), 1) << line.text;
    for (const std::string& part : each.parts) {
      EXPECT_NE(line.text.find(part), std::string::npos) << typed << ": " << line.text;
    }
  }
}

TEST(BenchOptionsTest, HelpAndVersionAreForStandardOutput) {
  const BenchCommandLine version = Parse({"--version"});
  EXPECT_EQ(version.action, BenchAction::kPrint);
  EXPECT_TRUE(std::regex_match(version.text, std::regex("turtle-bench [0-9]+[.][0-9].*\n")))
      << version.text;
  const BenchCommandLine help = Parse({"--help"});
  EXPECT_EQ(help.action, BenchAction::kPrint);
  for (const char* option :
       {"URL",         "-c",     "-t",        "--threads",   "--keep-alive", "--close",
        "--pipeline",  "--idle", "--rate",    "-1",          "-2",           "--get",
        "--head",      "-H",     "--timeout", "--read-size", "--any-body",   "--echo",
        "--websocket", "--json", "--quiet",   "--ca",        "--insecure",   "--no-resume"}) {
    EXPECT_NE(help.text.find(option), std::string::npos) << option << "\n" << help.text;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
