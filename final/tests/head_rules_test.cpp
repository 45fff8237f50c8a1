#include "http/head_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "support/parse_head.h"

namespace TURTLE_SERVER {
namespace {

using test::Outcome;
using test::ParseEveryWay;
using test::StatusOf;

// Returns a request of HTTP/1.1 with these field lines besides its Host.
auto With(const std::string& fields) -> std::string {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}

// Returns the same for HTTP/1.0, without a Host.
auto OldWith(const std::string& fields) -> std::string {
  return "POST / HTTP/1.0\r\n" + fields + "\r\n";
}

// --- Host (RFC 9112, section 3.2) ---------------------------------------------------------------

TEST(HostRuleTest, OneInEachRequestOfHttp11) {
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHostt: a\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nhOST:\r\n\r\n"), 0);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n\r\n"), 0);
}

TEST(HostRuleTest, DuplicateOrInvalidInAnyVersionIsRefused) {
  for (const std::string version : {"1.0", "1.1", "1.7"}) {
    const auto status = [&](const std::string& fields) {
      return StatusOf(std::string("GET / HTTP/").append(version).append("\r\n").append(fields));
    };
    EXPECT_EQ(status("Host: a\r\nHost: a\r\n\r\n"), 400);
    EXPECT_EQ(status("Host: a\r\nX: y\r\nhost: b\r\n\r\n"), 400);
    for (const std::string host : {"a b", "a/b", "u@a", "a:b", "a:65536", "[::1", "a\\b", "a, b"}) {
      EXPECT_EQ(status("Host: " + host + "\r\n\r\n"), 400) << host;
    }
  }
}

TEST(HostRuleTest, TheTargetsAuthorityWins) {
  const Outcome outcome = ParseEveryWay("GET http://b:81/x HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_EQ(outcome.Verdict(), "done");
  EXPECT_EQ(outcome.request.host, "b:81");
  EXPECT_EQ(outcome.request.uri.Path(), "/x");
  EXPECT_EQ(StatusOf("GET http://b/x HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET http://b/x HTTP/1.1\r\nHost: a b\r\n\r\n"), 400);
}

// --- framing (RFC 9112, section 6) --------------------------------------------------------------

TEST(FramingTest, NoneLengthOrChunked) {
  EXPECT_EQ(ParseEveryWay(With("")).request.framing.kind, BodyKind::kNone);
  const Outcome empty = ParseEveryWay(With("Content-Length: 0\r\n"));
  EXPECT_EQ(empty.request.framing.kind, BodyKind::kLength);
  EXPECT_FALSE(empty.request.framing.HasBody());
  const Outcome length = ParseEveryWay(OldWith("content-length:\t042 \r\n"));
  EXPECT_EQ(length.request.framing.kind, BodyKind::kLength);
  EXPECT_EQ(length.request.framing.length, 42u);
  const Outcome chunked = ParseEveryWay(With("Transfer-Encoding: Chunked\r\n"));
  EXPECT_EQ(chunked.request.framing.kind, BodyKind::kChunked);
  EXPECT_TRUE(chunked.request.framing.HasBody());
}

TEST(FramingTest, TheLargestLengthIsThatOfAFile) {
  const Outcome largest = ParseEveryWay(With("Content-Length: 9223372036854775807\r\n"));
  ASSERT_EQ(largest.Verdict(), "done");
  EXPECT_EQ(largest.request.framing.length, 9223372036854775807u);
  EXPECT_EQ(StatusOf(With("Content-Length: 9223372036854775808\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Content-Length: 18446744073709551617\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Content-Length: " + std::string(100, '9') + "\r\n")), 400);
}

TEST(FramingTest, RefusesADoubtfulLength) {
  for (const std::string value : {"", "+5", "-5", "-0", "5 5", "5,5", "5, 5", "5,", "0x5", "5.0",
                                  "5e1", "five", "5;", "\"5\"", "5\t5", "\xb2"}) {
    EXPECT_EQ(StatusOf(With("Content-Length: " + value + "\r\n")), 400) << value;
  }
  EXPECT_EQ(StatusOf(With("Content-Length: 5\r\nContent-Length: 6\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Content-Length: 5\r\nX: y\r\ncontent-length: 5\r\n")), 400);
}

// Request smuggling: each of these has been read in two ways by two servers in a row.
TEST(FramingTest, RefusesADoubtfulTransferEncoding) {
  for (const std::string value :
       {"", ",", "chunked,", "chunked, chunked", "chunked, identity", "chunked , identity",
        "identity", "gzip", "chunked, gzip", "xchunked", "chunkedx", "chunked x", "chunked;q=1",
        "\"chunked\"", "'chunked'", "\vchunked", "chunked\x0c", "chun\xefked"}) {
    EXPECT_EQ(StatusOf(With("Transfer-Encoding: " + value + "\r\n")), 400) << value;
  }
  for (const std::string lines :
       {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n",
        "Transfer-Encoding:\r\n chunked\r\n", "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding\t: chunked\r\n", " Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\n", "X: y\rTransfer-Encoding: chunked\r\n",
        "X: y\nTransfer-Encoding: chunked\r\n"}) {
    EXPECT_EQ(StatusOf(With(lines)), 400) << lines;
  }
}

TEST(FramingTest, AnotherCodingBelowChunkedIsNotImplemented) {
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: gzip, chunked\r\n")), 501);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n")), 501);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: identity, chunked\r\n")), 501);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: gzip ; level=\"1\", chunked\r\n")), 501);
}

TEST(FramingTest, WhatCouldBeNoCodingIsAFaultAndNotAnUnknownCoding) {
  for (const char* codings : {", chunked", "g zip, chunked", "g@ip, chunked", "\"gzip\", chunked",
                              ";q=1, chunked", "\r\nTransfer-Encoding: chunked"}) {
    EXPECT_EQ(StatusOf(With("Transfer-Encoding: " + std::string(codings) + "\r\n")), 400)
        << codings;
  }
}

TEST(FramingTest, LengthAndChunkedTogetherAreRefused) {
  EXPECT_EQ(StatusOf(With("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")), 400);
  EXPECT_EQ(StatusOf(With("Transfer-Encoding: identity\r\nContent-Length: 5\r\n")), 400);
}

TEST(FramingTest, Http10KnowsNoTransferEncoding) {
  EXPECT_EQ(StatusOf(OldWith("Transfer-Encoding: chunked\r\n")), 400);
}

// --- Connection (RFC 9112, section 9.3) ---------------------------------------------------------

TEST(ConnectionRuleTest, DefaultsByVersionAndCloseWins) {
  EXPECT_TRUE(ParseEveryWay(With("")).request.keep_alive);
  EXPECT_FALSE(ParseEveryWay(With("Connection: close\r\n")).request.keep_alive);
  EXPECT_FALSE(ParseEveryWay(With("Connection: x, CLOSE ,y\r\n")).request.keep_alive);
  EXPECT_FALSE(
      ParseEveryWay(With("Connection: keep-alive\r\nConnection: close\r\n")).request.keep_alive);
  EXPECT_TRUE(ParseEveryWay(With("Connection: closed, Upgrade\r\n")).request.keep_alive);
  EXPECT_FALSE(ParseEveryWay(OldWith("")).request.keep_alive);
  EXPECT_TRUE(ParseEveryWay(OldWith("Connection: Keep-Alive\r\n")).request.keep_alive);
  EXPECT_FALSE(ParseEveryWay(OldWith("Connection: keep-alive, close\r\n")).request.keep_alive);
}

// --- Expect (RFC 9110, section 10.1.1) ----------------------------------------------------------

TEST(ExpectRuleTest, ContinueUnknownOrIgnored) {
  const auto expectation = [](const std::string& head) {
    return ParseEveryWay(head).request.expectation;
  };
  EXPECT_EQ(expectation(With("")), Expectation::kNone);
  EXPECT_EQ(expectation(With("Expect: 100-Continue\r\n")), Expectation::kContinue);
  EXPECT_EQ(expectation(With("Expect: 100-continue, x\r\n")), Expectation::kUnknown);
  EXPECT_EQ(expectation(With("Expect: x\r\nExpect: 100-continue\r\n")), Expectation::kUnknown);
  EXPECT_EQ(expectation(With("Expect: 200-ok\r\n")), Expectation::kUnknown);
  EXPECT_EQ(expectation(OldWith("Expect: 100-continue\r\n")), Expectation::kNone);
  EXPECT_EQ(expectation(OldWith("Expect: x\r\n")), Expectation::kNone);
}

TEST(ExpectRuleTest, EmptyElementsAreNoExpectation) {
  const auto expectation = [](const std::string& value) {
    return ParseEveryWay(With("Expect: " + value + "\r\n")).request.expectation;
  };
  EXPECT_EQ(expectation(",100-continue"), Expectation::kContinue);
  EXPECT_EQ(expectation("100-continue, ,"), Expectation::kContinue);
  EXPECT_EQ(expectation(",, x"), Expectation::kUnknown);
  EXPECT_EQ(expectation(" , "), Expectation::kNone);
  EXPECT_EQ(expectation(""), Expectation::kNone);
}

}  // namespace
}  // namespace TURTLE_SERVER
