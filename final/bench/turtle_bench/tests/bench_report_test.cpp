#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>

#include "bench/report.h"
#include "support/json.h"

namespace TURTLE_SERVER {
namespace {

auto SomeReport() -> Report {
  Report report;
  report.url = R"(http://127.0.0.1:20080/"quoted\")";
  report.mode = LoadMode::kPipeline;
  report.depth = 16;
  report.connections = 64;
  report.threads = 2;
  report.seconds = 2.5;
  report.totals.requests = 5000;
  report.totals.connections = 65;
  report.totals.bytes = 12'345'678;
  for (std::size_t i = 0; i < kErrorKinds; ++i) {
    report.totals.errors[i] = i + 1;
  }
  report.connect.Add(std::chrono::microseconds(10));
  report.connect.Add(std::chrono::microseconds(30));
  report.first_byte.Add(std::chrono::microseconds(7));
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    report.latency.Record(i * 1000);
  }
  report.user_seconds = 0.5;
  report.system_seconds = 1.25;
  report.unanswered = 3;
  return report;
}

TEST(ReportTest, JsonHasEveryFigure) {
  std::ostringstream out;
  WriteJson(SomeReport(), out);
  EXPECT_EQ(out.str().find('\n'), out.str().size() - 1);
  const test::FlatJson json(out.str());
  EXPECT_EQ(json.Text("url"), SomeReport().url);
  EXPECT_EQ(json.Text("mode"), "pipeline");
  EXPECT_EQ(json.Number("connections"), 64);
  EXPECT_EQ(json.Number("threads"), 2);
  EXPECT_EQ(json.Number("seconds"), 2.5);
  EXPECT_EQ(json.Number("requests"), 5000);
  EXPECT_EQ(json.Number("requests_per_second"), 2000);
  EXPECT_EQ(json.Number("connections_opened"), 65);
  EXPECT_EQ(json.Number("connections_per_second"), 26);
  EXPECT_EQ(json.Number("bytes"), 12'345'678);
  EXPECT_NEAR(json.Number("bytes_per_second"), 4'938'271.2, 0.1);
  EXPECT_EQ(json.Number("errors.connect"), 1);
  EXPECT_EQ(json.Number("errors.handshake"), 2);
  EXPECT_EQ(json.Number("errors.timeout"), 3);
  EXPECT_EQ(json.Number("errors.reset"), 4);
  EXPECT_EQ(json.Number("errors.status"), 5);
  EXPECT_EQ(json.Number("errors.truncated"), 6);
  EXPECT_EQ(json.Number("errors.mismatch"), 7);
  EXPECT_EQ(json.Number("errors.protocol"), 8);
  EXPECT_EQ(json.Number("unanswered"), 3);
  EXPECT_EQ(json.Number("connect_us.mean"), 20);
  EXPECT_EQ(json.Number("connect_us.max"), 30);
  EXPECT_EQ(json.Number("first_byte_us.mean"), 7);
  EXPECT_EQ(json.Number("first_byte_us.max"), 7);
  EXPECT_NEAR(json.Number("latency_us.mean"), 500.5, 0.001);
  EXPECT_NEAR(json.Number("latency_us.p50"), 500, 0.5);
  EXPECT_NEAR(json.Number("latency_us.p75"), 750, 0.75);
  EXPECT_NEAR(json.Number("latency_us.p90"), 900, 0.9);
  EXPECT_NEAR(json.Number("latency_us.p99"), 990, 0.99);
  EXPECT_NEAR(json.Number("latency_us.p999"), 999, 0.999);
  EXPECT_EQ(json.Number("latency_us.max"), 1000);
  EXPECT_EQ(json.Text("latency_us.corrected"), "false");
  EXPECT_EQ(json.Number("cpu_seconds.user"), 0.5);
  EXPECT_EQ(json.Number("cpu_seconds.system"), 1.25);
}

TEST(ReportTest, JsonOfARunWithoutASingleReplyIsSound) {
  Report report;
  report.seconds = 1;
  report.rate = 10;
  report.overdue = 9;
  std::ostringstream out;
  WriteJson(report, out);
  const test::FlatJson json(out.str());
  EXPECT_EQ(json.Number("requests"), 0);
  EXPECT_EQ(json.Number("latency_us.mean"), 0);
  EXPECT_EQ(json.Number("latency_us.p50"), 0);
  EXPECT_EQ(json.Number("connect_us.mean"), 0);
  EXPECT_EQ(json.Text("latency_us.corrected"), "true");
  EXPECT_EQ(json.Number("rate"), 10);
  EXPECT_EQ(json.Number("overdue"), 9);
  std::ostringstream text;
  PrintReport(report, text);
  EXPECT_EQ(text.str().find("nan"), std::string::npos) << text.str();
}

TEST(ReportTest, TheTextSaysIt) {
  std::ostringstream out;
  PrintReport(SomeReport(), out);
  const std::string text = out.str();
  for (const char* part :
       {"64 connections, pipeline of 16, 2 threads, 2.50 s", "5000", "2000.0/s", "26.0/s",
        "12.3 MB", "4.94 MB/s", "36  1 connect, 2 handshake, 3 timeout, 4 reset, 5 status",
        "6 truncated, 7 mismatch, 8 protocol", "3  at the end", "20 us", "30 us", "1.00 ms",
        "99.9 %", "0.50 s user, 1.25 s system, 350.00 us for each request",
        "each request was sent"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  Report one = SomeReport();
  one.mode = LoadMode::kClose;
  one.connections = 1;
  one.threads = 1;
  one.rate = 500;
  one.overdue = 77;
  one.totals.errors = {};
  std::ostringstream single;
  PrintReport(one, single);
  for (const char* part : {"1 connection, close, 1 thread, ", "at 500 requests/s", "77  that were",
                           "each request was due"}) {
    EXPECT_NE(single.str().find(part), std::string::npos) << part << "\n" << single.str();
  }
}

TEST(ReportTest, TlsIsReportedForHttpsAlone) {
  Report report = SomeReport();
  std::ostringstream plain_json;
  WriteJson(report, plain_json);
  EXPECT_EQ(test::FlatJson(plain_json.str()).All().count("tls.version"), 0U);
  std::ostringstream plain_text;
  PrintReport(report, plain_text);
  EXPECT_EQ(plain_text.str().find("handshakes"), std::string::npos) << plain_text.str();

  report.secure = true;
  report.tls = {"TLSv1.3", "TLS_AES_128_GCM_SHA256"};
  report.totals.full = 60;
  report.totals.resumed = 5;
  report.handshake.Add(std::chrono::microseconds(200));
  report.handshake.Add(std::chrono::microseconds(400));
  report.handshake_error = "wrong version number";
  std::ostringstream out;
  WriteJson(report, out);
  const test::FlatJson json(out.str());
  EXPECT_EQ(json.Text("tls.version"), "TLSv1.3");
  EXPECT_EQ(json.Text("tls.cipher"), "TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(json.Number("tls.full"), 60);
  EXPECT_EQ(json.Number("tls.resumed"), 5);
  EXPECT_EQ(json.Number("tls.handshake_us.mean"), 300);
  EXPECT_EQ(json.Number("tls.handshake_us.max"), 400);
  EXPECT_EQ(json.Number("unanswered"), 3);
  std::ostringstream text;
  PrintReport(report, text);
  for (const char* part :
       {"65          26.0/s  60 full, 5 resumed; TLSv1.3 TLS_AES_128_GCM_SHA256",
        "first of handshake: wrong version number", "to establish TLS       300 us      400 us"}) {
    EXPECT_NE(text.str().find(part), std::string::npos) << part << "\n" << text.str();
  }
}

TEST(ReportTest, NumbersForPeople) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(999), "999 B");
  EXPECT_EQ(HumanBytes(1234), "1.23 kB");
  EXPECT_EQ(HumanBytes(45'600'000), "45.6 MB");
  EXPECT_EQ(HumanBytes(789e9), "789 GB");
  EXPECT_EQ(HumanBytes(5e15), "5000 TB");
  EXPECT_EQ(HumanTime(0), "0 us");
  EXPECT_EQ(HumanTime(999.6), "1.00 ms") << "rounded before the unit is chosen";
  EXPECT_EQ(HumanTime(99.96), "100 us");
  EXPECT_EQ(HumanTime(9.996), "10.0 us");
  EXPECT_EQ(HumanTime(12.34), "12.3 us");
  EXPECT_EQ(HumanTime(4567), "4.57 ms");
  EXPECT_EQ(HumanTime(1.5e6), "1.50 s");
}

TEST(ReportTest, JsonStrings) {
  EXPECT_EQ(JsonString("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(JsonString("\n\x01"), R"("\u000a\u0001")");
}

}  // namespace
}  // namespace TURTLE_SERVER
