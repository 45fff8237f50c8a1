#include "http/http_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/parse_head.h"

namespace TURTLE_SERVER {
namespace {

using namespace std::string_literals;

using test::Outcome;
using test::ParseEveryWay;
using test::StatusOf;

TEST(HttpParserTest, ReadsABrowsersRequest) {
  const std::string head =
      "GET /a%20b/?q=1 HTTP/1.1\r\n"
      "Host: localhost:20080\r\n"
      "User-Agent:Turtle/1.0  \r\n"
      "Accept: \t text/html, */*\r\n"
      "X-Empty:\r\n"
      "\r\n";
  const Outcome outcome = ParseEveryWay(head + "GET /next");
  ASSERT_EQ(outcome.Verdict(), "done");
  EXPECT_EQ(outcome.result.head_bytes, head.size());
  const Request& request = outcome.request;
  EXPECT_EQ(request.method, Method::kGet);
  EXPECT_EQ(request.method_text, "GET");
  EXPECT_EQ(request.target, "/a%20b/?q=1");
  EXPECT_EQ(request.uri.Path(), "/a b/");
  EXPECT_EQ(request.uri.Query(), "q=1");
  EXPECT_EQ(request.minor_version, 1);
  EXPECT_EQ(request.host, "localhost:20080");
  EXPECT_EQ(request.headers.Size(), 4u);
  EXPECT_EQ(request.headers.Find(KnownField::kUserAgent), "Turtle/1.0");
  EXPECT_EQ(request.headers.Find("accept"), "text/html, */*");
  EXPECT_EQ(request.headers.Find("x-empty"), "");
  EXPECT_EQ(request.framing.kind, BodyKind::kNone);
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(request.head, head);
}

TEST(HttpParserTest, NeedsMoreUntilTheLastByte) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::size_t size = 0; size < head.size(); ++size) {
    EXPECT_EQ(StatusOf(head.substr(0, size)), -1) << size;
  }
  EXPECT_EQ(StatusOf(head), 0);
}

TEST(HttpParserTest, MethodsHaveACase) {
  const std::pair<const char*, Method> cases[] = {
      {"GET", Method::kGet},     {"HEAD", Method::kHead},     {"POST", Method::kPost},
      {"PUT", Method::kPut},     {"DELETE", Method::kDelete}, {"OPTIONS", Method::kOptions},
      {"PATCH", Method::kPatch}, {"TRACE", Method::kTrace},   {"get", Method::kOther},
      {"GETS", Method::kOther},  {"GE", Method::kOther},      {"X!#$%&'*+-.^_`|~1", Method::kOther},
  };
  for (const auto& [text, method] : cases) {
    const Outcome outcome = ParseEveryWay(text + " / HTTP/1.0\r\n\r\n"s);
    ASSERT_EQ(outcome.Verdict(), "done") << text;
    EXPECT_EQ(outcome.request.method, method) << text;
    EXPECT_EQ(outcome.request.method_text, text);
  }
}

TEST(HttpParserTest, RefusesMalformedRequestLines) {
  const std::string rest = "\r\nHost: a\r\n\r\n";
  for (const std::string& line : {
           "GET"s,
           "GET /"s,
           "GET / "s,
           " GET / HTTP/1.1"s,
           "\tGET / HTTP/1.1"s,
           "GET  / HTTP/1.1"s,
           "GET\t/ HTTP/1.1"s,
           "GET /  HTTP/1.1"s,
           "GET / HTTP/1.1 "s,
           "GET / x HTTP/1.1"s,
           "GET /\tHTTP/1.1"s,
           "GET(/) / HTTP/1.1"s,
           "G\0T / HTTP/1.1"s,
           "G\x80T / HTTP/1.1"s,
           "GET /\0 HTTP/1.1"s,
           "GET /\x01 HTTP/1.1"s,
           "GET /\x7f HTTP/1.1"s,
           "GET /\xc3\xa4 HTTP/1.1"s,
           "GET / http/1.1"s,
           "GET / HTTP"s,
           "GET / HTTP/"s,
           "GET / HTTP/1"s,
           "GET / HTTP/1."s,
           "GET / HTTP/.1"s,
           "GET / HTTP/1.10"s,
           "GET / HTTP/11.1"s,
           "GET / HTTP/01.1"s,
           "GET / HTTP/1,1"s,
           "GET / HTTP/x.1"s,
           "GET / HTTP/1.x"s,
           "GET / HTTPS/1.1"s,
           "GET / HTTP /1.1"s,
           "GET a HTTP/1.1"s,
           "GET * HTTP/1.1"s,
           "GET /../a HTTP/1.1"s,
           "CONNECT / HTTP/1.1"s,
           "\x16\x03\x01\x02\x00\x01"s,  // a TLS client
       }) {
    EXPECT_EQ(StatusOf(line + rest), 400) << line;
  }
}

TEST(HttpParserTest, OtherVersions) {
  EXPECT_EQ(StatusOf("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(StatusOf("GET / HTTP/0.9\r\n\r\n"), 505);
  EXPECT_EQ(StatusOf("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
  const Outcome newer = ParseEveryWay("GET / HTTP/1.2\r\nHost: a\r\n\r\n");
  EXPECT_EQ(newer.Verdict(), "done");
  EXPECT_EQ(newer.request.minor_version, 1);
  const Outcome older = ParseEveryWay("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(older.Verdict(), "done");
  EXPECT_EQ(older.request.minor_version, 0);
}

TEST(HttpParserTest, OnlyCrlfEndsALine) {
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\n\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\nA: b\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\nA: b\rC: d\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\nA: b\r\n\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\nA: b\r\n\rX\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("\nGET / HTTP/1.0\r\n\r\n"), 400);
}

TEST(HttpParserTest, RefusesMalformedFields) {
  for (const std::string& field : {
           "Host : a"s,    "Host\t: a"s,   " Host: a"s,       "\tHost: a"s,   "A: b\r\n c"s,
           "A: b\r\n\tc"s, ": a"s,         "Host"s,           "A\0: b"s,      "A: b\0c"s,
           "A: \x01"s,     "A: \x0b"s,     "A: \x7f"s,        "A: b\x1f"s,    "A(): b"s,
           "A/B: c"s,      "\xc3\xa4: b"s, "A\x7f: b"s,       "A: b\r\n: c"s, "A B: c"s,
           R"("A": b)"s,   "A=b"s,         "GET / HTTP/1.1"s, "A\x80: b"s,
       }) {
    EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n" + field + "\r\n\r\n"), 400) << field;
  }
}

TEST(HttpParserTest, ValuesMayHoldTabsAndBytesBeyondAscii) {
  const Outcome outcome = ParseEveryWay("GET / HTTP/1.0\r\nA: b\tc \xc3\xa4\xff:\"\r\n\r\n");
  EXPECT_EQ(outcome.Verdict(), "done");
  EXPECT_EQ(outcome.request.headers.Find("a"), "b\tc \xc3\xa4\xff:\"");
}

TEST(HttpParserTest, SkipsAFewEmptyLinesBeforeTheRequest) {
  const std::string head = "GET / HTTP/1.0\r\n\r\n";
  const Outcome outcome = ParseEveryWay("\r\n\r\n\r\n\r\n" + head);
  EXPECT_EQ(outcome.Verdict(), "done");
  EXPECT_EQ(outcome.result.head_bytes, 8 + head.size());
  EXPECT_EQ(outcome.request.head, head);
  EXPECT_EQ(StatusOf("\r\n\r\n\r\n\r\n\r\n" + head), 400);
  EXPECT_EQ(StatusOf("\r\n"), -1);
  EXPECT_EQ(StatusOf("\rGET / HTTP/1.0\r\n\r\n"), 400);
}

TEST(HttpParserTest, PipelinedHeadsFollowEachOther) {
  const std::string first = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string second = "HEAD /2 HTTP/1.0\r\n\r\n";
  const std::string both = first + second;
  ParserLimits limits;
  HttpParser parser(limits);
  Request request;
  EXPECT_EQ(parser.Parse(both, request).head_bytes, first.size());
  EXPECT_EQ(request.uri.Path(), "/1");
  EXPECT_EQ(parser.Parse(std::string_view(both).substr(first.size()), request).head_bytes,
            second.size());
  EXPECT_EQ(request.uri.Path(), "/2");
  EXPECT_FALSE(request.headers.Has(KnownField::kHost));
}

TEST(HttpParserTest, ResetForgetsAHalfReadHead) {
  ParserLimits limits;
  HttpParser parser(limits);
  Request request;
  const std::string half = "POST /a/rather/long/half/head HTTP/1.1\r\nHost: a\r\n";
  ASSERT_EQ(parser.Parse(half, request).state, ParseState::kNeedMore);
  parser.Reset();
  EXPECT_EQ(parser.Parse("GET / HTTP/1.0\r\n\r\n", request).state, ParseState::kDone);
  EXPECT_EQ(request.method, Method::kGet);
  EXPECT_EQ(request.headers.Size(), 0u);
}

TEST(HttpParserTest, GarbageIsRefusedWithoutWaitingForALineEnd) {
  ParserLimits limits;
  HttpParser parser(limits);
  Request request;
  EXPECT_EQ(parser.Parse("\x16\x03\x01", request).status, 400);
}

// --- limits: this much is accepted, one more is not ------------------------------------------

TEST(HttpParserLimitsTest, Target) {
  ParserLimits limits;
  limits.max_target_bytes = 50;
  const auto head = [](std::size_t bytes) {
    return "GET /" + std::string(bytes - 1, 'a') + " HTTP/1.0\r\n\r\n";
  };
  EXPECT_EQ(StatusOf(head(50), limits), 0);
  EXPECT_EQ(StatusOf(head(51), limits), 414);
  EXPECT_EQ(StatusOf(head(500), limits), 414);
}

TEST(HttpParserLimitsTest, ATargetWithoutEndIsRefusedAtTheFirstByteTooMany) {
  ParserLimits limits;
  limits.max_target_bytes = 50;
  HttpParser parser(limits);
  Request request;
  std::string input = "GET ";
  for (int i = 0; i < 50; ++i) {
    input += i == 0 ? '/' : 'a';
    ASSERT_EQ(parser.Parse(input, request).state, ParseState::kNeedMore) << i;
  }
  EXPECT_EQ(parser.Parse(input + 'a', request).status, 414);
}

TEST(HttpParserLimitsTest, Head) {
  const std::string head = "GET / HTTP/1.0\r\nA: 45678901234567890\r\n\r\n";
  ParserLimits limits;
  limits.max_head_bytes = head.size();
  EXPECT_EQ(StatusOf(head, limits), 0);
  EXPECT_EQ(StatusOf(head + "body", limits), 0);
  limits.max_head_bytes = head.size() - 1;
  EXPECT_EQ(StatusOf(head, limits), 431);
  EXPECT_EQ(StatusOf(head + "body", limits), 431);
}

TEST(HttpParserLimitsTest, AHeadWithoutEndIsRefusedAtItsLimit) {
  ParserLimits limits;
  limits.max_head_bytes = 100;
  HttpParser parser(limits);
  Request request;
  std::string input = "GET / HTTP/1.0\r\nA: ";
  while (input.size() < 99) {
    input += 'x';
    ASSERT_EQ(parser.Parse(input, request).state, ParseState::kNeedMore) << input.size();
  }
  EXPECT_EQ(parser.Parse(input + 'x', request).status, 431);
}

TEST(HttpParserLimitsTest, Fields) {
  ParserLimits limits;
  limits.max_fields = 3;
  const std::string line = "GET / HTTP/1.0\r\n";
  EXPECT_EQ(StatusOf(line + "A: 1\r\nB: 2\r\nC: 3\r\n\r\n", limits), 0);
  EXPECT_EQ(StatusOf(line + "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n\r\n", limits), 431);
  limits.max_fields = 0;
  EXPECT_EQ(StatusOf(line + "\r\n", limits), 0);
  EXPECT_EQ(StatusOf(line + "A: 1\r\n\r\n", limits), 431);
}

TEST(HttpParserLimitsTest, Method) {
  EXPECT_EQ(StatusOf(std::string(32, 'M') + " / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(StatusOf(std::string(33, 'M') + " / HTTP/1.0\r\n\r\n"), 501);
  EXPECT_EQ(test::ParseWhole(std::string(33, 'M')).result.status, 501);
}

// A parser that started over with each byte would read two million million bytes here, and hit the
// time limit of the test.
TEST(HttpParserLimitsTest, ByteByByteIsLinear) {
  ParserLimits limits;
  limits.max_head_bytes = 4'000'000;
  limits.max_fields = 60'000;
  std::string head = "GET / HTTP/1.0\r\nLong: " + std::string(1'000'000, 'x') + "\r\n";
  while (head.size() < 2'000'000) {
    head += "A-field-name: and a value of no great length\r\n";
  }
  head += "\r\n";
  HttpParser parser(limits);
  Request request;
  for (std::size_t size = 1; size < head.size(); ++size) {
    ASSERT_EQ(parser.Parse({head.data(), size}, request).state, ParseState::kNeedMore) << size;
  }
  EXPECT_EQ(parser.Parse(head, request).head_bytes, head.size());
}

}  // namespace
}  // namespace TURTLE_SERVER
