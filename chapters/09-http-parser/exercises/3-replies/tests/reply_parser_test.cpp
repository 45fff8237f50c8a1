#include "http/reply_parser.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

// Parses `input` in a block of memory that ends with it, into a Reply that was used before.
class Parsed {
 public:
  explicit Parsed(std::string_view input, Method method = Method::kGet, ParserLimits limits = {})
      : block_(std::make_unique<char[]>(input.size())) {
    std::memcpy(block_.get(), input.data(), input.size());
    reply.headers.Add("left", "over");
    reply.body = ReplyBody::kLength;
    reply.length = 99;
    reply.keep_alive = false;
    reply.minor_version = 0;
    result = ParseReply({block_.get(), input.size()}, method, limits, reply);
  }

  ReplyResult result;
  Reply reply;

 private:
  std::unique_ptr<char[]> block_;
};

auto StateOf(std::string_view input, ParserLimits limits = {}) -> ParseState {
  return Parsed(input, Method::kGet, limits).result.state;
}

auto Head(std::string_view line, std::string_view fields = {}) -> std::string {
  return std::string(line) + "\r\n" + std::string(fields) + "\r\n";
}

// How the body of an accepted reply ends: "none", "length 5", "chunked", "close", "tunnel".
auto BodyOf(const std::string& head, Method method = Method::kGet) -> std::string {
  const Parsed parsed(head, method);
  if (parsed.result.state != ParseState::kDone) {
    return parsed.result.state == ParseState::kBad ? "bad" : "more";
  }
  switch (parsed.reply.body) {
    case ReplyBody::kNone:
      return "none";
    case ReplyBody::kLength:
      return "length " + std::to_string(parsed.reply.length);
    case ReplyBody::kChunked:
      return "chunked";
    case ReplyBody::kClose:
      return "close";
    default:
      return "tunnel";
  }
}

TEST(ReplyParser, ReadsAHead) {
  const std::string head =
      Head("HTTP/1.1 404 Not Found", "Server:  turtle \t\r\nContent-Length: 5\r\nX:\r\n");
  const Parsed parsed(head + "hello");
  ASSERT_EQ(parsed.result.state, ParseState::kDone);
  EXPECT_EQ(parsed.result.head_bytes, head.size());
  EXPECT_EQ(parsed.reply.status, 404);
  EXPECT_EQ(parsed.reply.reason, "Not Found");
  EXPECT_EQ(parsed.reply.minor_version, 1);
  EXPECT_EQ(parsed.reply.headers.Size(), 3U);
  EXPECT_EQ(parsed.reply.headers.Find("server"), "turtle");
  EXPECT_EQ(parsed.reply.headers.Find("x"), "");
  EXPECT_EQ(parsed.reply.body, ReplyBody::kLength);
  EXPECT_EQ(parsed.reply.length, 5U);
  EXPECT_TRUE(parsed.reply.keep_alive);
}

TEST(ReplyParser, UntilItsLastByteThereIsNone) {
  const std::string head = Head("HTTP/1.1 200 OK", "Content-Length: 0\r\nA: b\r\n");
  for (std::size_t size = 0; size < head.size(); ++size) {
    EXPECT_EQ(StateOf(head.substr(0, size)), ParseState::kNeedMore) << size;
  }
  EXPECT_EQ(StateOf(head), ParseState::kDone);
}

TEST(ReplyParser, TheReasonMayBeAnythingThatCanBeSeenOrNothing) {
  EXPECT_EQ(Parsed(Head("HTTP/1.1 200 ")).reply.reason, "");
  EXPECT_EQ(Parsed(Head("HTTP/1.1 200")).reply.reason, "") << "many servers leave the space away";
  EXPECT_EQ(Parsed(Head("HTTP/1.1 299 All \t r\xc3\xb6tlich: so")).reply.reason,
            "All \t r\xc3\xb6tlich: so");
  for (const std::string line : {"HTTP/1.1 200  OK", "HTTP/1.0 200 OK", "HTTP/1.9 200 OK"}) {
    EXPECT_EQ(StateOf(Head(line)), ParseState::kDone) << line;
  }
  EXPECT_EQ(Parsed(Head("HTTP/1.0 200 OK")).reply.minor_version, 0);
  EXPECT_EQ(Parsed(Head("HTTP/1.9 200 OK")).reply.minor_version, 1);
}

TEST(ReplyParser, AStatusLineIsWrittenInOneWay) {
  for (const std::string line :
       {"HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 099 OK", "HTTP/1.1 600 OK",
        "HTTP/1.1 2x0 OK", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200\tOK",
        "HTTP/2.0 200 OK", "HTTP/11 200 OK", "http/1.1 200 OK", "HTTP/1.1", "ICY 200 OK",
        " HTTP/1.1 200 OK", "HTTP/1.1 200 O\x01K", "HTTP/1.1 200 O\x7fK", "HTTP/1.1 +20 OK"}) {
    EXPECT_EQ(StateOf(Head(line)), ParseState::kBad) << line;
  }
  EXPECT_EQ(StateOf("\r\nHTTP/1.1 200 OK\r\n\r\n"), ParseState::kBad);
  EXPECT_EQ(StateOf("G"), ParseState::kBad) << "no reply begins so";
  EXPECT_EQ(StateOf("HTTP/1.1 7"), ParseState::kBad);
}

TEST(ReplyParser, FieldsAreReadAsStrictlyAsThoseOfARequest) {
  for (const std::string fields :
       {"A : b\r\n", " A: b\r\n", ": b\r\n", "A\r\n", "A: b\n", "A: b\r\n folded\r\n",
        "A: \x01\r\n", "A: b\rc\r\n", "A(: b\r\n"}) {
    EXPECT_EQ(StateOf(Head("HTTP/1.1 200 OK", fields)), ParseState::kBad) << fields;
  }
  EXPECT_EQ(StateOf("HTTP/1.1 200 OK\n\r\n"), ParseState::kBad);
  EXPECT_EQ(StateOf("HTTP/1.1 200 OK\r\n\rx"), ParseState::kBad);
  EXPECT_EQ(StateOf("HTTP/1.1 200 OK\r\n\n"), ParseState::kBad);
}

TEST(ReplyParser, KeepsItsLimits) {
  ParserLimits limits;
  limits.max_fields = 2;
  EXPECT_EQ(StateOf(Head("HTTP/1.1 200 OK", "A: 1\r\nB: 2\r\n"), limits), ParseState::kDone);
  EXPECT_EQ(StateOf(Head("HTTP/1.1 200 OK", "A: 1\r\nB: 2\r\nC: 3\r\n"), limits), ParseState::kBad);
  const std::string head = Head("HTTP/1.1 200 OK", "A: " + std::string(50, 'a') + "\r\n");
  limits.max_head_bytes = head.size();
  EXPECT_EQ(StateOf(head + "body", limits), ParseState::kDone);
  limits.max_head_bytes = head.size() - 1;
  EXPECT_EQ(StateOf(head, limits), ParseState::kBad);
  EXPECT_EQ(StateOf(head.substr(0, head.size() - 1), limits), ParseState::kBad)
      << "no head of this size can come any more";
  EXPECT_EQ(StateOf(head.substr(0, head.size() - 2), limits), ParseState::kNeedMore);
}

// --- how the body ends: RFC 9112, section 6.3, in its order
// ---------------------------------------

TEST(ReplyParser, SomeRepliesHaveNoBodyWhateverTheySay) {
  for (const std::string fields : {"", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"}) {
    EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", fields), Method::kHead), "none") << fields;
    EXPECT_EQ(BodyOf(Head("HTTP/1.1 404 Gone", fields), Method::kHead), "none") << fields;
    for (const std::string status : {"100", "103", "199", "204", "304"}) {
      EXPECT_EQ(BodyOf(Head("HTTP/1.1 " + status + " x", fields)), "none") << status << fields;
    }
  }
}

TEST(ReplyParser, ATunnelBeginsBehindAConnectThatWentWell) {
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Content-Length: 5\r\n"), Method::kConnect), "tunnel");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 299 OK"), Method::kConnect), "tunnel");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 407 No", "Content-Length: 5\r\n"), Method::kConnect), "length 5");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 101 Switching", "Upgrade: x\r\n")), "tunnel");
}

TEST(ReplyParser, ChunksEndByThemselvesAndOtherCodingsByTheConnection) {
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked\r\n")), "chunked");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Transfer-Encoding: , CHUNKED ,\r\n")), "chunked");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked\r\n")), "chunked");
  EXPECT_EQ(
      BodyOf(Head("HTTP/1.1 200 OK", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n")),
      "chunked");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Transfer-Encoding: gzip\r\n")), "close");
  for (const std::string value :
       {"chunked, gzip", "chunked, chunked", "", ",", "chun ked", "chunked;a=b",
        "\x0b"
        "chunked"}) {
    EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Transfer-Encoding: " + value + "\r\n")), "bad")
        << value;
  }
  EXPECT_EQ(BodyOf(Head("HTTP/1.0 200 OK", "Transfer-Encoding: chunked\r\n")), "bad");
}

TEST(ReplyParser, BothALengthAndACodingAreADoubt) {
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")),
            "bad");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n")),
            "bad");
}

TEST(ReplyParser, ALengthIsANumber) {
  const auto with = [](const std::string& value) {
    return BodyOf(Head("HTTP/1.1 200 OK", "Content-Length: " + value + "\r\n"));
  };
  EXPECT_EQ(with("0"), "length 0");
  EXPECT_EQ(with("007"), "length 7");
  EXPECT_EQ(with("9223372036854775807"), "length 9223372036854775807");
  for (const std::string value :
       {"", "+5", "-5", "5x", "0x5", "5 5", "5,", "9223372036854775808", "99999999999999999999"}) {
    EXPECT_EQ(with(value), "bad") << value;
  }
}

// A response that came through careless hands may say its length twice; both are the same or it is
// bad.
TEST(ReplyParser, EqualLengthsAreOne) {
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Content-Length: 5\r\nContent-Length: 5\r\n")),
            "length 5");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Content-Length: 5, 5 ,5\r\n")), "length 5");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Content-Length: 5\r\nContent-Length: 6\r\n")), "bad");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Content-Length: 5, 6\r\n")), "bad");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK", "Content-Length: 5, 05\r\n")), "bad");
}

TEST(ReplyParser, WithoutEitherItEndsWithTheConnection) {
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 200 OK")), "close");
  EXPECT_EQ(BodyOf(Head("HTTP/1.1 500 No", "Connection: keep-alive\r\n")), "close");
}

TEST(ReplyParser, WhatEndsWithTheConnectionDoesNotKeepIt) {
  const auto keeps = [](const std::string& head, Method method = Method::kGet) {
    const Parsed parsed(head, method);
    EXPECT_EQ(parsed.result.state, ParseState::kDone) << head;
    return parsed.reply.keep_alive;
  };
  const std::string length = "Content-Length: 5\r\n";
  EXPECT_TRUE(keeps(Head("HTTP/1.1 200 OK", length)));
  EXPECT_FALSE(keeps(Head("HTTP/1.1 200 OK", length + "Connection: x, Close\r\n")));
  EXPECT_FALSE(keeps(Head("HTTP/1.0 200 OK", length)));
  EXPECT_TRUE(keeps(Head("HTTP/1.0 200 OK", length + "Connection: Keep-Alive\r\n")));
  EXPECT_FALSE(
      keeps(Head("HTTP/1.1 200 OK", length + "Connection: keep-alive\r\nConnection: close\r\n")));
  EXPECT_FALSE(keeps(Head("HTTP/1.1 200 OK")));
  EXPECT_FALSE(keeps(Head("HTTP/1.1 200 OK", "Connection: keep-alive\r\n")));
  EXPECT_FALSE(keeps(Head("HTTP/1.1 200 OK"), Method::kConnect));
  EXPECT_FALSE(keeps(Head("HTTP/1.1 101 Switching")));
  EXPECT_TRUE(keeps(Head("HTTP/1.1 204 No Content")));
  EXPECT_TRUE(keeps(Head("HTTP/1.1 200 OK"), Method::kHead));
}

}  // namespace
}  // namespace TURTLE_SERVER
