#include "web/line_format.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/looper.h"
#include "http/request.h"
#include "support/counting_new.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using std::string_view_literals::operator""sv;

class LineFormatTest : public testing::Test {
 protected:
  LineFormatTest() {
    line_.peer = "::1";
    line_.time = "31/Jan/2026:23:59:59 +0000";
    line_.seconds = 0.25;
    request_.headers.Add("Host", "example.org");
    request_.headers.Add("User-Agent", "tests");
    request_.headers.Add("x-tag", "one");
    request_.headers.Add("X-Tag", "two");
    request_.headers.Add("X-Empty", "");
    record_.request = &request_;
    record_.status = 200;
    record_.body_bytes = 512;
  }

  // The line without its line feed.
  [[nodiscard]] auto Line(std::string_view format) const -> std::string {
    std::string out = "before;";
    LineFormat(format).Append(line_, record_, out);
    EXPECT_EQ(out.substr(0, 7), "before;");
    EXPECT_EQ(out.back(), '\n');
    return out.substr(7, out.size() - 8);
  }

  Request request_;
  AccessLogLine line_;
  Looper looper_;
  const ConnectionCallbacks callbacks_{};
  test::TcpPair pair_ = test::MakeTcpPair();
  ExchangeRecord record_{*looper_.AddConnection(pair_.server.Release(), callbacks_),
                         "GET / HTTP/1.1", nullptr};
};

TEST_F(LineFormatTest, EachIsWhatItStandsFor) {
  EXPECT_EQ(Line("%h"), "::1");
  EXPECT_EQ(Line("%t"), "31/Jan/2026:23:59:59 +0000");
  EXPECT_EQ(Line("%r"), "GET / HTTP/1.1");
  EXPECT_EQ(Line("%s"), "200");
  EXPECT_EQ(Line("%b"), "512");
  EXPECT_EQ(Line("%B"), "512");
  EXPECT_EQ(Line("%D"), "250000");
  EXPECT_EQ(Line("%X"), "+");
  EXPECT_EQ(Line("%{Host}i"), "example.org");
  EXPECT_EQ(Line("%%"), "%");
}

TEST_F(LineFormatTest, TextStandsForItself) {
  EXPECT_EQ(Line(""), "");
  EXPECT_EQ(Line("h t {Host}i \"\\x41\""), "h t {Host}i \"\\x41\"");
  EXPECT_EQ(Line("%%h%h%%%%h"), "%h::1%%h");
  EXPECT_EQ(Line("status=%s, %B bytes, 100 %%"), "status=200, 512 bytes, 100 %");
  EXPECT_EQ(Line("Grüße"), "Grüße") << "who writes a format may write what he likes";
}

TEST_F(LineFormatTest, WhatIsNotThereIsADash) {
  line_.peer = "";
  record_.request_line = "";
  record_.status = 0;
  record_.body_bytes = 0;
  record_.complete = false;
  line_.seconds = 0;
  EXPECT_EQ(Line("%h %r %s %b %B %D %X %{X-Empty}i %{X-None}i"), "- - - - 0 0 X - -");
  record_.request = nullptr;
  EXPECT_EQ(Line("%{Host}i %{User-Agent}i"), "- -");
}

TEST_F(LineFormatTest, FieldsAreFoundByAnySpelling) {
  EXPECT_EQ(Line("%{hOsT}i %{USER-agent}i %{X-TAG}i"), "example.org tests one");
}

TEST_F(LineFormatTest, NumbersThatAreLarge) {
  record_.body_bytes = 18'446'744'073'709'551'615U;
  line_.seconds = 123'456.789;
  EXPECT_EQ(Line("%b %B %D"), "18446744073709551615 18446744073709551615 123456789000");
}

TEST_F(LineFormatTest, AClientEndsNeitherTheLineNorTheQuotes) {
  record_.request_line = "GET /\" 200\n\x7f\xe9\\%s HTTP/1.1";
  request_.headers.Add("X-Evil", "a\"b\\c\td");
  EXPECT_EQ(Line("%r|%{X-Evil}i"), R"(GET /\" 200\x0a\x7f\xe9\\%s HTTP/1.1|a\"b\\c\x09d)");
}

TEST_F(LineFormatTest, TheCombinedFormatIsOneOfThem) {
  constexpr auto kCombined = R"(%h - - [%t] "%r" %s %b "%{Referer}i" "%{User-Agent}i")"sv;
  for (const std::string_view request_line : {"GET / HTTP/1.1"sv, "\x01\"\\"sv, ""sv}) {
    record_.request_line = request_line;
    std::string wanted;
    AppendCombined(line_, record_, wanted);
    EXPECT_EQ(Line(kCombined) + "\n", wanted);
  }
  record_.request = nullptr;
  record_.status = 0;
  record_.body_bytes = 0;
  std::string wanted;
  AppendCombined(line_, record_, wanted);
  EXPECT_EQ(Line(kCombined) + "\n", wanted);
}

TEST_F(LineFormatTest, TheTextOfTheFormatMayGo) {
  auto text = std::make_unique<std::string>("some text of a format, and %{User-Agent}i");
  const LineFormat format(*text);
  std::fill(text->begin(), text->end(), '*');
  text.reset();
  std::string out;
  format.Append(line_, record_, out);
  EXPECT_EQ(out, "some text of a format, and tests\n");
}

TEST_F(LineFormatTest, ALineAllocatesNothing) {
  const LineFormat format(R"(%h [%t] "%r" %s %b %B %D %X "%{User-Agent}i" %% and more)");
  record_.request_line = "GET /a/path/that/is/longer/than/what/a/string/holds/by/itself HTTP/1.1";
  record_.body_bytes = 18'446'744'073'709'551'615U;
  line_.seconds = 123'456.789;
  std::string out;
  out.reserve(1024);
  test::allocations = 0;
  test::counts_allocations = true;
  format.Append(line_, record_, out);
  test::counts_allocations = false;
  EXPECT_EQ(test::allocations, 0U);
  EXPECT_GT(out.size(), 100U);
}

TEST_F(LineFormatTest, Refusals) {
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      const LineFormat format(text);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("%h %r %q"), "format: no %q (at 7)");
  EXPECT_EQ(refusal("%H"), "format: no %H (at 1)");
  EXPECT_EQ(refusal("%%%i"), "format: no %i (at 3)") << "a field has to be named";
  EXPECT_EQ(refusal("100 %"), "format: % is not ended (at 5)");
  EXPECT_EQ(refusal("%h %{Host"), "format: % is not ended (at 4)");
  EXPECT_EQ(refusal("%{Host}"), "format: % is not ended (at 1)");
  EXPECT_EQ(refusal("%{Host}r"), "format: no %{Host}r (at 1)");
  EXPECT_EQ(refusal("%{}i"), "format: no %{}i (at 1)");
  EXPECT_EQ(refusal("%{a b}i"), "format: no %{a b}i (at 1)") << "no field has such a name";
  EXPECT_EQ(refusal("%h\n%r"), "format: a control character (at 3)");
  EXPECT_EQ(refusal("%h %{Ho\tst}i"), "format: a control character (at 8)");
  EXPECT_EQ(refusal("%\n"), "format: a control character (at 2)");
  EXPECT_EQ(refusal("%q\n"), "format: no %q (at 1)") << "the first mistake";
  EXPECT_EQ(refusal("a\0b"sv), "format: a control character (at 2)");
}

}  // namespace
}  // namespace TURTLE_SERVER
