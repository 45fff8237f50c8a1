#include "http/cgi_header.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER {
namespace {

struct Parsed {
  CgiHeaderResult result;
  CgiHeader header;
};

auto ParseAll(std::string_view output, CgiHeaderLimits limits = {}) -> Parsed {
  Parsed parsed{{CgiHeaderState::kNeedMore, 0, ""}, {}};
  parsed.result = CgiHeaderParser(limits).Parse(output, parsed.header);
  return parsed;
}

auto Describe(const Parsed& parsed) -> std::string {
  const CgiHeader& header = parsed.header;
  std::string text = std::to_string(static_cast<int>(parsed.result.state)) + " " +
                     std::to_string(parsed.result.head_bytes) + " " + parsed.result.reason + " " +
                     std::to_string(static_cast<int>(header.kind)) + " " +
                     std::to_string(header.status) + " " + header.reason + "|" + header.location +
                     "|" + header.content_type + "|" +
                     (header.content_length ? std::to_string(*header.content_length) : "none");
  for (const CgiField& field : header.fields) {
    text += "|" + field.name + "=" + field.value;
  }
  return text;
}

constexpr std::string_view kDocument =
    "Status: 404 Not Found\r\nContent-Type: text/plain\r\nX-One: a\r\nSet-Cookie: b=1\r\n"
    "Set-Cookie: c=2\r\nContent-Length: 4\r\n\r\nbody: here\n\n";

TEST(CgiHeaderTest, ReadsADocument) {
  const Parsed parsed = ParseAll(kDocument);
  ASSERT_EQ(parsed.result.state, CgiHeaderState::kDone);
  EXPECT_EQ(kDocument.substr(parsed.result.head_bytes), "body: here\n\n");
  EXPECT_EQ(parsed.header.kind, CgiReplyKind::kDocument);
  EXPECT_EQ(parsed.header.status, 404);
  EXPECT_EQ(parsed.header.reason, "Not Found");
  EXPECT_EQ(parsed.header.content_type, "text/plain");
  EXPECT_EQ(parsed.header.content_length, 4U);
  ASSERT_EQ(parsed.header.fields.size(), 3U);  // two cookies stay two: they can't be joined
  EXPECT_EQ(parsed.header.fields[0].name, "X-One");
  EXPECT_EQ(parsed.header.fields[1].value, "b=1");
  EXPECT_EQ(parsed.header.fields[2].value, "c=2");
}

TEST(CgiHeaderTest, LineFeedAloneEndsALineToo) {
  const Parsed parsed = ParseAll("content-TYPE:text/html \nX-Tab: a\tb\n\n\nbody");
  ASSERT_EQ(parsed.result.state, CgiHeaderState::kDone);
  EXPECT_EQ(parsed.result.head_bytes, 36U);
  EXPECT_EQ(parsed.header.status, 200);
  EXPECT_EQ(parsed.header.content_type, "text/html");
  EXPECT_EQ(parsed.header.fields.at(0).value, "a\tb");
}

// A pipe may deliver the block in any pieces.
TEST(CgiHeaderTest, EverySplitGivesTheSameAnswer) {
  const std::vector<std::string_view> outputs = {kDocument, "Location: /other?x=1\n\nrest",
                                                 "Content-Type: text/html\nbad line\n\n"};
  for (const std::string_view output : outputs) {
    const std::string whole = Describe(ParseAll(output));
    for (std::size_t split = 0; split <= output.size(); ++split) {
      CgiHeaderParser parser;
      Parsed parsed{{CgiHeaderState::kNeedMore, 0, ""}, {}};
      parsed.result = parser.Parse(output.substr(0, split), parsed.header);
      parsed.result = parser.Parse(output, parsed.header);
      EXPECT_EQ(Describe(parsed), whole) << "split at " << split;
    }
    CgiHeaderParser parser;
    Parsed parsed{{CgiHeaderState::kNeedMore, 0, ""}, {}};
    for (std::size_t size = 0; size <= output.size(); ++size) {
      parsed.result = parser.Parse(output.substr(0, size), parsed.header);
    }
    EXPECT_EQ(Describe(parsed), whole) << "byte by byte";
  }
}

TEST(CgiHeaderTest, NothingIsDecidedBeforeTheEmptyLine) {
  const std::size_t head_bytes = ParseAll(kDocument).result.head_bytes;
  for (std::size_t size = 0; size < head_bytes; ++size) {
    EXPECT_EQ(ParseAll(kDocument.substr(0, size)).result.state, CgiHeaderState::kNeedMore) << size;
  }
}

TEST(CgiHeaderTest, TellsTheRedirectsApart) {
  struct Case {
    std::string_view output;
    CgiReplyKind kind;
    int status;
  };
  const std::vector<Case> cases = {
      {"Location: /other?x=1\n\n", CgiReplyKind::kLocalRedirect, 302},
      {"Location: https://example.org/\n\n", CgiReplyKind::kClientRedirect, 302},
      {"Location: mailto:a@example.org\n\n", CgiReplyKind::kClientRedirect, 302},
      {"Location: a+b-c.9:x\n\n", CgiReplyKind::kClientRedirect, 302},
      {"Status: 303 See Other\nLocation: /done\n\n", CgiReplyKind::kClientRedirect, 303},
      {"Location: http://example.org/\nStatus: 301\n\n", CgiReplyKind::kClientRedirect, 301},
      {"Status: 201 Created\nLocation: /new\n\n", CgiReplyKind::kDocument, 201},
  };
  for (const Case& each : cases) {
    const Parsed parsed = ParseAll(each.output);
    EXPECT_EQ(parsed.result.state, CgiHeaderState::kDone) << each.output << parsed.result.reason;
    EXPECT_EQ(parsed.header.kind, each.kind) << each.output;
    EXPECT_EQ(parsed.header.status, each.status) << each.output;
    EXPECT_FALSE(parsed.header.location.empty()) << each.output;
  }
}

TEST(CgiHeaderTest, WhatBelongsToTheServerIsLeftOut) {
  const Parsed parsed = ParseAll(
      "Content-Type: a/b\nTransfer-Encoding: chunked\nConnection: close\nkeep-alive: 5\n"
      "Trailer: x\nUpgrade: h2c\nDate: now\nServer: me\nProxy-Connection: x\nX-Mine: 1\n\n");
  ASSERT_EQ(parsed.result.state, CgiHeaderState::kDone);
  ASSERT_EQ(parsed.header.fields.size(), 1U);
  EXPECT_EQ(parsed.header.fields[0].name, "X-Mine");
}

TEST(CgiHeaderTest, NotModifiedDescribesNoBody) {
  const Parsed parsed = ParseAll(
      "Status: 304\nContent-Type: a/b\nContent-Encoding: gzip\ncontent-language: en\n"
      "Content-Range: bytes 0-1/2\nContent-Location: /c\nETag: \"d\"\n\n");
  ASSERT_EQ(parsed.result.state, CgiHeaderState::kDone);
  EXPECT_EQ(parsed.header.content_type, "");
  ASSERT_EQ(parsed.header.fields.size(), 2U);
  EXPECT_EQ(parsed.header.fields[0].name, "Content-Location");
  EXPECT_EQ(parsed.header.fields[1].name, "ETag");
}

TEST(CgiHeaderTest, TheSameLengthTwiceIsOneLength) {
  const Parsed parsed = ParseAll("Content-Type: a/b\nContent-Length: 4\ncontent-length: 4\n\n");
  ASSERT_EQ(parsed.result.state, CgiHeaderState::kDone) << parsed.result.reason;
  EXPECT_EQ(parsed.header.content_length, 4U);
}

TEST(CgiHeaderTest, ALengthHasABound) {
  const std::string type = "Content-Type: a/b\nContent-Length: ";
  const Parsed longest = ParseAll(type + "9223372036854775807\n\n");
  EXPECT_EQ(longest.header.content_length, 9223372036854775807U) << longest.result.reason;
  const Parsed longer = ParseAll(type + "9223372036854775808\n\n");
  EXPECT_EQ(longer.result.state, CgiHeaderState::kBad);
}

TEST(CgiHeaderTest, RefusesWhatIsNoHeaderBlock) {
  using namespace std::string_view_literals;
  const std::vector<std::string_view> outputs = {
      "\n",                                      // no field at all
      "X-Only: 1\n\n",                           // none of the three that are required
      "1 + 2 = 3\n",                             // the short form's plain text
      "HTTP/1.1 200 OK\r\n",                     // nph
      "HTTP/1.1: 200\n",                         // the same in disguise
      ": value\n",                               // no name
      "Content Type: text/html\n",               // space in the name
      "Content-Type : text/html\n",              // space before the colon
      "Content-Type: text/html\n  folded\n",     // folded line
      "Content-Type: text/html\rX-Evil: 1\n",    // a bare CR
      "Content-Type: a\0b\n"sv,                  // NUL
      "Content-Type: text/html\r\r\n",           // a CR too many
      "Status: 20 Short\n",                      //
      "Status: 2000\n",                          //
      "Status: ok\n",                            //
      "Status:\n",                               //
      "Status: 100 Continue\n",                  // not final
      "Status: 600 Far\n",                       //
      "Status: 200\nStatus: 200\n",              // twice
      "Content-Type: a/b\ncontent-type: a/b\n",  // twice
      "Location: /a\nLocation: /a\n",            // twice
      "Location: relative\n\n",                  //
      "Location:\n\n",                           //
      "Location: :nothing\n\n",                  // empty scheme
      "Location: http:\n\n",                     // nothing after the colon
      "Location: 9a:b\n\n",                      // a scheme begins with a letter
      "Location: a_b:c\n\n",                     // and has no underscore
      "Location: /a b\n\n",                      // a space would end the URI
      "Content-Length: -1\n",                    //
      "Content-Length: 1x\n",                    //
      "Content-Length:\n",                       //
      "Content-Length: 18446744073709551616\n",  // 2^64
      "Content-Length: 1\nContent-Length: 2\n",  // which?
      "ETag: \"a\"\nX: y\netag: \"b\"\n",        // a field that is not a list
      "Retry-After: 1\nRetry-After: 2\n",        //
  };
  for (const std::string_view output : outputs) {
    const Parsed parsed = ParseAll(output);
    EXPECT_EQ(parsed.result.state, CgiHeaderState::kBad) << output;
    EXPECT_STRNE(parsed.result.reason, "") << output;
    EXPECT_EQ(parsed.result.head_bytes, 0U) << output;
  }
}

TEST(CgiHeaderTest, SizeIsBoundedExactly) {
  const std::string block = "Content-Type: text/plain\nX: " + std::string(100, 'x') + "\n\n";
  CgiHeaderLimits limits;
  limits.max_bytes = block.size();
  EXPECT_EQ(ParseAll(block + "a long body behind it", limits).result.state, CgiHeaderState::kDone);
  limits.max_bytes = block.size() - 1;
  EXPECT_EQ(ParseAll(block, limits).result.state, CgiHeaderState::kBad);
  // A line without an end must not be collected forever.
  EXPECT_EQ(ParseAll(std::string(block.size() - 1, 'x'), limits).result.state,
            CgiHeaderState::kNeedMore);
  EXPECT_EQ(ParseAll(std::string(block.size(), 'x'), limits).result.state, CgiHeaderState::kBad);
}

TEST(CgiHeaderTest, NumberOfFieldsIsBoundedExactly) {
  CgiHeaderLimits limits;
  limits.max_fields = 3;
  EXPECT_EQ(ParseAll("Content-Type: a/b\nA: 1\nB: 2\n\n", limits).result.state,
            CgiHeaderState::kDone);
  EXPECT_EQ(ParseAll("Content-Type: a/b\nA: 1\nDate: x\nB: 2\n\n", limits).result.state,
            CgiHeaderState::kBad);
}

TEST(CgiHeaderTest, ResetForgetsEverything) {
  CgiHeaderParser parser;
  CgiHeader first;
  ASSERT_EQ(parser.Parse("Status: 200\nLocation: /a\nno field\n", first).state,
            CgiHeaderState::kBad);
  CgiHeader again;
  EXPECT_EQ(parser.Parse("Content-Type: a/b\n\n", again).state, CgiHeaderState::kBad);
  parser.Reset();
  CgiHeader second;
  const CgiHeaderResult result = parser.Parse("Status: 200\nContent-Type: a/b\n\n", second);
  EXPECT_EQ(result.state, CgiHeaderState::kDone) << result.reason;
  EXPECT_EQ(second.kind, CgiReplyKind::kDocument);
}

}  // namespace
}  // namespace TURTLE_SERVER
