// The statsd format, the statistics that a sink keeps, and the sink itself.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../examples/statsd_line.h"
#include "../examples/statsd_table.h"
#include "support/child.h"
#include "support/http_client.h"
#include "support/needs_ipv6.h"
#include "support/udp_client.h"

namespace TURTLE_SERVER {
namespace {

using turtle_examples::LineFault;
using turtle_examples::Metric;
using turtle_examples::MetricKind;
using turtle_examples::ParseLine;
using turtle_examples::ParseNumber;
using turtle_examples::StatsdTable;
using turtle_examples::TakeLine;

auto Parsed(std::string_view line) -> Metric {
  Metric metric;
  EXPECT_EQ(ParseLine(line, metric), LineFault::kNone) << line;
  return metric;
}

auto FaultOf(std::string_view line) -> LineFault {
  Metric metric;
  return ParseLine(line, metric);
}

TEST(StatsdLine, ACounter) {
  const Metric metric = Parsed("web.requests_2-x/y:3|c");
  EXPECT_EQ(metric.name, "web.requests_2-x/y");
  EXPECT_EQ(metric.kind, MetricKind::kCounter);
  EXPECT_EQ(metric.value, 3);
  EXPECT_EQ(metric.rate, 1);
  EXPECT_EQ(Parsed("a:1|c|@0.1").rate, 0.1);
  EXPECT_EQ(Parsed("a:-2.5|c").value, -2.5);
  EXPECT_EQ(Parsed("a:1|c|@1|#tag:b,c").rate, 1);
}

TEST(StatsdLine, AGauge) {
  EXPECT_FALSE(Parsed("a:17|g").relative);
  EXPECT_TRUE(Parsed("a:+3|g").relative);
  EXPECT_TRUE(Parsed("a:-3|g").relative);
  EXPECT_EQ(Parsed("a:-3|g").value, -3);
}

TEST(StatsdLine, ATimerAndASet) {
  EXPECT_EQ(Parsed("a:12.5|ms|@0.5").rate, 0.5);
  EXPECT_EQ(Parsed("a:12.5|ms").value, 12.5);
  EXPECT_EQ(Parsed("a:1e-05|h").value, 1e-05);
  EXPECT_EQ(Parsed("a:ada lovelace|s").member, "ada lovelace");
}

TEST(StatsdLine, WhatIsWrongIsNamed) {
  const std::vector<std::pair<std::string, LineFault>> lines = {
      {"", LineFault::kName},
      {":1|c", LineFault::kName},
      {"a b:1|c", LineFault::kName},
      {std::string("a\0b:1|c", 7), LineFault::kName},
      {"\xC3\xA4:1|c", LineFault::kName},
      {std::string(201, 'a') + ":1|c", LineFault::kName},
      {"a", LineFault::kValue},
      {"a:", LineFault::kType},
      {"a:|c", LineFault::kValue},
      {"a:x|c", LineFault::kValue},
      {"a:1x|c", LineFault::kValue},
      {"a: 1|c", LineFault::kValue},
      {"a:1 |c", LineFault::kValue},
      {"a:nan|g", LineFault::kValue},
      {"a:inf|g", LineFault::kValue},
      {"a:0x10|c", LineFault::kValue},
      {"a:1e999|c", LineFault::kValue},
      {"a:1e15|c|@1e-6", LineFault::kNone},
      {"a:1.1e15|c", LineFault::kValue},
      {"a:-1.1e15|g", LineFault::kValue},
      {"a:1|c|@1e-7", LineFault::kRate},
      {"a:0." + std::string(39, '1') + "|c", LineFault::kValue},
      {"a:-1|ms", LineFault::kValue},
      {"a:|s", LineFault::kValue},
      {"a:" + std::string(201, 'm') + "|s", LineFault::kValue},
      {"a:1", LineFault::kType},
      {"a:1|", LineFault::kType},
      {"a:1|C", LineFault::kType},
      {"a:1|cc", LineFault::kType},
      {"a:1|c|", LineFault::kNone},
      {"a:1|c||", LineFault::kRate},
      {"a:1|c|0.1", LineFault::kRate},
      {"a:1|c|@", LineFault::kRate},
      {"a:1|c|@0", LineFault::kRate},
      {"a:1|c|@-1", LineFault::kRate},
      {"a:1|c|@1.5", LineFault::kRate},
      {"a:1|g|@0.5", LineFault::kRate},
      {"a:x|s|@0.5", LineFault::kRate},
  };
  for (const auto& [line, fault] : lines) {
    EXPECT_EQ(FaultOf(line), fault) << line;
  }
  EXPECT_EQ(FaultOf(std::string(200, 'a') + ":0." + std::string(38, '1') + "|c"), LineFault::kNone);
  EXPECT_EQ(FaultOf("a:" + std::string(200, 'm') + "|s"), LineFault::kNone);
}

// Each beginning of a good line is either good or refused, and no byte after it is read.
TEST(StatsdLine, EveryCut) {
  for (const std::string line :
       {"requests:12.5|c|@0.25|#a:b", "queue:-3|g", "render:1e-2|ms|@1", "users:ada|s"}) {
    for (std::size_t cut = 0; cut <= line.size(); ++cut) {
      const std::string exactly = line.substr(0, cut);  // a sanitizer notices a longer read
      Metric metric;
      if (ParseLine(exactly, metric) == LineFault::kNone) {
        EXPECT_FALSE(metric.name.empty());
        EXPECT_GT(metric.rate, 0) << exactly;
      }
    }
    EXPECT_EQ(FaultOf(line), LineFault::kNone) << line;
  }
}

TEST(StatsdLine, EveryByteAtEveryPlace) {
  const std::string line = "a.b:-1.5|c|@0.5|#t";
  for (std::size_t at = 0; at < line.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = line;
      changed[at] = static_cast<char>(byte);
      Metric metric;
      if (ParseLine(changed, metric) == LineFault::kNone) {
        EXPECT_TRUE(metric.rate > 0 && metric.rate <= 1) << changed;
        EXPECT_TRUE(metric.value > -1e40 && metric.value < 1e40) << changed;
      }
    }
  }
}

TEST(StatsdLine, LinesOfADatagram) {
  std::string_view rest = "one\n\ntwo\r\nthree";
  std::vector<std::string> lines;
  while (const auto line = TakeLine(rest)) {
    lines.emplace_back(*line);
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "", "two", "three"}));
  rest = "one\n";
  EXPECT_EQ(TakeLine(rest), "one");
  EXPECT_EQ(TakeLine(rest), std::nullopt);
  EXPECT_EQ(ParseNumber(""), std::nullopt);
  EXPECT_EQ(ParseNumber("-"), std::nullopt);
}

TEST(StatsdTable, AddsUp) {
  StatsdTable table(10);
  table.Take("hits:1|c\nhits:1|c|@0.1\nqueue:10|g\nqueue:-3|g\nqueue:+1|g\n");
  table.Take("user:ada|s\nuser:bob|s\nuser:ada|s");
  for (int i = 100; i >= 1; --i) {
    table.Take("render:" + std::to_string(i) + "|ms");
  }
  EXPECT_EQ(table.Report(),
            "counter hits 11\n"
            "gauge queue 8\n"
            "timer render count=100 min=1 p50=50 p90=90 p99=99 max=100\n"
            "set user 2\n");
  table.BeginInterval();
  EXPECT_EQ(table.Report(),
            "counter hits 11\n"
            "gauge queue 8\n"
            "timer render count=0 min=0 p50=0 p90=0 p99=0 max=0\n"
            "set user 0\n");
  table.Take("render:7|ms|@0.5");
  EXPECT_NE(table.Report().find("count=2 min=7 p50=7 p90=7 p99=7 max=7"), std::string::npos);
}

TEST(StatsdTable, LargeCountsAreNotRounded) {
  StatsdTable table(3);
  table.Take("a:12345678901|c\na:1|c\nb:0.1|g\nb:+0.2|g\nc:123456789012345|g");
  EXPECT_EQ(table.Report(), "counter a 12345678902\ngauge b 0.3\ngauge c 123456789012345\n");
}

TEST(StatsdTable, NamesHaveALimit) {
  StatsdTable table(2);
  table.Take("a:1|c\nb:1|g\nc:1|c\na:1|c\nc:1|s");
  EXPECT_EQ(table.Refused(), 2U);
  EXPECT_EQ(table.Taken(), 3U);
  EXPECT_EQ(table.Report(), "counter a 2\ngauge b 1\nrefused 2: there are 2 names already\n");
}

TEST(StatsdTable, TimersAndSetsKeepLittle) {
  StatsdTable table(2);
  for (int i = 0; i < 5000; ++i) {
    table.Take("t:" + std::to_string(i) + "|ms\ns:" + std::to_string(i) + "|s");
  }
  const std::string report = table.Report();
  EXPECT_NE(report.find("timer t count=5000 min=0 "), std::string::npos) << report;
  EXPECT_NE(report.find("max=4999\n"), std::string::npos) << report;
  EXPECT_NE(report.find("set s 1024+\n"), std::string::npos) << report;
}

TEST(StatsdTable, MalformedLinesAreCountedAndShownHarmless) {
  StatsdTable table(2);
  table.Take("a:1|c\nbad\na:x|c\na:1|q\n\x1b[2J:1|c\n" + std::string(500, 'z'));
  EXPECT_EQ(table.Faults(LineFault::kValue), 2U);
  EXPECT_EQ(table.Faults(LineFault::kType), 1U);
  EXPECT_EQ(table.Faults(LineFault::kName), 2U);
  EXPECT_EQ(table.Report(),
            "counter a 1\nmalformed name 2\nmalformed value 2\nmalformed type 1\n"
            "example " +
                std::string(40, 'z') + "\nexample a:x|c\nexample a:1|q\nexample ?[2J:1|c\n");
}

TEST(StatsdTable, OfACutDatagramTheLastLineIsNotRead) {
  StatsdTable table(2);
  table.Take("a:1|c\na:1", true);
  table.Take("a:100", true);
  EXPECT_EQ(table.Report(), "counter a 1\ncut 2\n");
}

TEST(StatsdExample, ReportsOverHttpAndAtItsEnd) {
  test::Child sink(test::ExamplePath("statsd"), {"0", "0", "3600"});
  const std::string line = sink.ReadLine();  // listening on A:P, metrics at http://A:Q/metrics
  const std::size_t comma = line.find(',');
  ASSERT_EQ(line.rfind("listening on 127.0.0.1:", 0), 0U) << line << sink.ReadErrors();
  test::UdpClient client(NetAddress("127.0.0.1", std::stoi(line.substr(23, comma - 23))));
  test::HttpClient http(std::stoi(line.substr(line.rfind(':') + 1)));
  ASSERT_TRUE(client.Send("requests:2|c\nusers:ada|s"));
  ASSERT_TRUE(client.Send("oops"));
  std::string text;
  for (int i = 0; i < 1000 && text.find("datagrams 2") == std::string::npos; ++i) {
    text = http.Ask(test::Get("/metrics")).body;
  }
  EXPECT_EQ(text,
            "counter requests 2\nset users 1\nmalformed value 1\nexample oops\n"
            "datagrams 2, dropped by the kernel 0, truncated 0\n");
  sink.Signal(SIGTERM);
  EXPECT_EQ(sink.Wait(), 0);
  EXPECT_EQ(sink.ReadOutput(), text + "\n");
}

// A running sink and its client.
class Sink {
 public:
  explicit Sink(const std::string& seconds)
      : program_(test::ExamplePath("statsd"), {"0", "0", seconds}), line_(program_.ReadLine()) {}

  [[nodiscard]] auto Program() -> test::Child& { return program_; }
  // listening on A:P, metrics at http://A:Q/metrics
  [[nodiscard]] auto Address() const -> NetAddress {
    return {"127.0.0.1", std::stoi(line_.substr(line_.find(':') + 1))};
  }
  [[nodiscard]] auto HttpPort() const -> int {
    return std::stoi(line_.substr(line_.rfind(':') + 1));
  }

 private:
  test::Child program_;
  std::string line_;
};

TEST(StatsdExample, WhatTheKernelHasAtTheEndIsCounted) {
  Sink sink("3600");
  test::UdpClient client(sink.Address());
  ASSERT_TRUE(client.Send("requests:1|c"));
  sink.Program().Signal(SIGSTOP);  // like one that is busy: the kernel goes on without it
  constexpr int kLate = 300;
  for (int i = 0; i < kLate; ++i) {
    ASSERT_TRUE(client.Send("requests:1|c"));
  }
  sink.Program().Signal(SIGTERM);
  sink.Program().Signal(SIGCONT);
  EXPECT_EQ(sink.Program().ReadOutput(),
            "counter requests 301\ndatagrams 301, dropped by the kernel 0, truncated 0\n\n");
  EXPECT_EQ(sink.Program().Wait(), 0);
}

TEST(StatsdExample, WhoDoesNotReadItsReportsDoesNotStopIt) {
  Sink sink("1");
  test::UdpClient client(sink.Address());
  test::HttpClient http(sink.HttpPort());
  for (int i = 0; i < 900; ++i) {  // more than a pipe holds
    ASSERT_TRUE(client.Send(std::string(190, 'a') + std::to_string(i) + ":1|c"));
  }
  ASSERT_TRUE(client.Send("render:7|ms"));
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (text.find("timer render count=0") == std::string::npos) {  // until an interval has ended
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << text.size();
    const test::HttpReply reply = http.Ask(test::Get("/metrics"));
    ASSERT_EQ(reply.status, 200) << "the report holds up the loop";
    text = reply.body;
  }
  ASSERT_TRUE(client.Send("last:1|c"));
  sink.Program().Signal(SIGTERM);
  const std::string printed = sink.Program().ReadOutput();
  EXPECT_NE(printed.find("timer render count=1 "), std::string::npos) << "the report of then";
  EXPECT_NE(printed.find("counter last 1\n"), std::string::npos) << "and the last one";
  EXPECT_EQ(sink.Program().Wait(), 0);
}

TEST(StatsdExample, ASecondSignalEndsItThoughNobodyReads) {
  Sink sink("3600");
  test::UdpClient client(sink.Address());
  test::HttpClient idle(sink.HttpPort());
  ASSERT_EQ(idle.Ask(test::Get("/metrics")).status, 200);
  for (int i = 0; i < 900; ++i) {  // the last report is more than a pipe holds
    ASSERT_TRUE(client.Send(std::string(190, 'a') + std::to_string(i) + ":1|c"));
  }
  sink.Program().Signal(SIGTERM);
  ASSERT_TRUE(idle.IsClosedByServer());  // the first has arrived
  sink.Program().Signal(SIGTERM);
  EXPECT_EQ(sink.Program().Wait(), 128 + SIGTERM);
}

TEST(CountedServerExample, TellsASinkOfEachRequest) {
  UdpSocket sink;
  sink.Bind(NetAddress("127.0.0.1", 0));
  const std::string port = std::to_string(sink.LocalAddress().Port());
  test::ExampleServer server("counted_server", {"0", port});
  test::HttpClient client(server.Port());
  DatagramBatch batch(4, 64);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.Ask(test::Get("/hello")).body, "hello\n");
    ASSERT_TRUE(test::AwaitDatagram(sink));
    ASSERT_EQ(sink.ReceiveMany(batch).count, 1U);
    EXPECT_EQ(batch[0].payload, "requests:1|c");
  }
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST(CountedServerExample, WhatTheKernelRefusesIsToldLater) {
  UdpSocket sink;
  sink.Bind(NetAddress("127.0.0.1", 0));
  const NetAddress address = sink.LocalAddress();
  sink = UdpSocket();
  test::ExampleServer server("counted_server", {"0", std::to_string(address.Port())});
  test::HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(test::Get("/hello")).body, "hello\n");  // is lost
  EXPECT_EQ(client.Ask(test::Get("/hello")).body, "hello\n");  // is refused: nobody was there
  sink.Bind(address);
  EXPECT_EQ(client.Ask(test::Get("/hello")).body, "hello\n");
  ASSERT_TRUE(test::AwaitDatagram(sink));
  DatagramBatch batch(4, 64);
  ASSERT_EQ(sink.ReceiveMany(batch).count, 1U);
  EXPECT_EQ(batch[0].payload, "requests:2|c");
}

TEST(UdpEchoExample, Echoes) {
  TURTLE_NEEDS_IPV6();
  for (const std::string loops : {"1", "2"}) {
    test::ExampleServer echo("udp_echo", {"0", "::1", loops});
    test::UdpClient client(NetAddress("::1", echo.Port()));
    EXPECT_EQ(client.Ask("hello"), "hello") << echo.FirstLine();
    echo.Signal(SIGTERM);
    EXPECT_EQ(echo.Wait(), 0);
    EXPECT_NE(echo.ReadOutput().find("received 1, truncated 0, dropped by the kernel 0, sent 1"),
              std::string::npos);
  }
}

// A stranger sends a datagram with another server's address as its sender: otherwise the two would
// talk forever, about nothing.
TEST(UdpEchoExample, DoesNotAnswerWhoMayAnswerToo) {
  test::ExampleServer echo("udp_echo", {"0"});
  const NetAddress address("127.0.0.1", echo.Port());
  UdpSocket like_it;
  like_it.Bind(NetAddress("127.0.0.2", echo.Port()));
  UdpSocket low;
  int unanswered = 1;
  ASSERT_EQ(like_it.Send("hello", address).status, IoStatus::kBytes);
  try {
    low.Bind(NetAddress("127.0.0.2", 7));
    ASSERT_EQ(low.Send("hello", address).status, IoStatus::kBytes);
    ++unanswered;
  } catch (const std::system_error&) {
    // Only root may.
  }
  test::UdpClient client(address);
  EXPECT_EQ(client.Ask("hello"), "hello");
  EXPECT_FALSE(test::AwaitDatagram(like_it, std::chrono::milliseconds(0)));
  if (unanswered == 2) {
    EXPECT_FALSE(test::AwaitDatagram(low, std::chrono::milliseconds(0)));
  }
  echo.Signal(SIGTERM);
  EXPECT_EQ(echo.Wait(), 0);
  EXPECT_NE(echo.ReadOutput().find(", not answered " + std::to_string(unanswered) + "\n"),
            std::string::npos);
}

TEST(MetricsCostExample, OverUdpNoRequestWaits) {
  test::Child cost(test::ExamplePath("metrics_cost"), {"udp", "100"});
  const std::string text = cost.ReadOutput();
  EXPECT_EQ(cost.Wait(), 0);
  EXPECT_NE(text.find("10000 requests"), std::string::npos) << text;
  EXPECT_EQ(text.find("gave up"), std::string::npos) << text;
}

}  // namespace
}  // namespace TURTLE_SERVER
