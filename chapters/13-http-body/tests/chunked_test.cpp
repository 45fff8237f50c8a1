#include "http/chunked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/read_body.h"

namespace TURTLE_SERVER {
namespace {

using test::InPiecesOf;
using test::ReadBody;
using test::WholeBody;

auto Decode(const std::vector<std::string_view>& pieces, const BodyLimits& limits = {})
    -> WholeBody {
  ChunkedDecoder decoder(limits);
  return ReadBody(decoder, pieces);
}

// The well-known example, an extension, upper and lower case, leading zeros, trailers.
constexpr std::string_view kExample =
    "4\r\nWiki\r\n"
    "005;name=value;q=\"a;b\\\"\" ;x\r\npedia\r\n"
    "E \t; ext\r\n in\r\n\r\nchunks.\r\n"
    "0;last\r\n"
    "Trailer: value\r\nX-Empty:\r\nX-Tab:\t\xc3\xa4\r\n"
    "\r\n";
constexpr std::string_view kContent = "Wikipedia in\r\n\r\nchunks.";

TEST(ChunkedDecoderTest, Whole) {
  const WholeBody body = Decode({kExample});
  EXPECT_EQ(body.state, BodyState::kDone) << body.reason;
  EXPECT_EQ(body.content, kContent);
  EXPECT_EQ(body.consumed, kExample.size());
}

TEST(ChunkedDecoderTest, PiecesOfEverySize) {
  for (std::size_t size = 1; size <= kExample.size(); ++size) {
    const WholeBody body = Decode(InPiecesOf(size, kExample));
    EXPECT_EQ(body.state, BodyState::kDone) << size << ": " << body.reason;
    EXPECT_EQ(body.content, kContent) << size;
    EXPECT_EQ(body.consumed, kExample.size()) << size;
  }
}

TEST(ChunkedDecoderTest, EverySplitInThree) {
  for (std::size_t i = 0; i <= kExample.size(); ++i) {
    for (std::size_t j = i; j <= kExample.size(); ++j) {
      const WholeBody body =
          Decode({kExample.substr(0, i), kExample.substr(i, j - i), kExample.substr(j)});
      ASSERT_EQ(body.state, BodyState::kDone) << i << ' ' << j << ": " << body.reason;
      ASSERT_EQ(body.content, kContent) << i << ' ' << j;
    }
  }
}

TEST(ChunkedDecoderTest, NoPrefixIsABody) {
  for (std::size_t size = 0; size < kExample.size(); ++size) {
    EXPECT_EQ(Decode({kExample.substr(0, size)}).state, BodyState::kMore) << size;
  }
}

TEST(ChunkedDecoderTest, TheNextRequestIsLeftAlone) {
  const std::string next = "GET / HTTP/1.1\r\n";
  const WholeBody body = Decode({"1\r\nx\r\n0\r\n\r\n" + next});
  EXPECT_EQ(body.state, BodyState::kDone);
  EXPECT_EQ(body.content, "x");
  EXPECT_EQ(body.consumed, 11U);
}

TEST(ChunkedDecoderTest, AnEmptyBody) {
  const WholeBody body = Decode({"0\r\n\r\n"});
  EXPECT_EQ(body.state, BodyState::kDone);
  EXPECT_EQ(body.content, "");
}

TEST(ChunkedDecoderTest, TheEndComesWithTheLastContentIfItHasArrived) {
  ChunkedDecoder decoder(BodyLimits{});
  const BodyResult result = decoder.Read("3\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ(result.state, BodyState::kDone);
  EXPECT_EQ(result.data, "abc");
}

TEST(ChunkedDecoderTest, MalformedIs400AtAnySplit) {
  const std::vector<std::string> malformed = {"\r\n",
                                              "\n",
                                              " 5\r\n",
                                              "g\r\n",
                                              "-1\r\n",
                                              "+1\r\n",
                                              "0x5\r\n",
                                              "5 \r\n",
                                              "5\t\r\n",
                                              "5 5\r\n",
                                              "5,\r\n",
                                              "5\n",
                                              "5\rx",
                                              ";x\r\n",
                                              "5;x\ny",
                                              "5;x\rx",
                                              "5;\r\n",
                                              "5; \r\n",
                                              "5;;x\r\n",
                                              "5;x;\r\n",
                                              "5;x \r\n",
                                              "5;x y\r\n",
                                              "5;=x\r\n",
                                              "5;x=\r\n",
                                              "5;x= \r\n",
                                              "5;x=;y\r\n",
                                              "5;x==y\r\n",
                                              "5;x=y=z\r\n",
                                              "5;x=y \r\n",
                                              "5;x=y z\r\n",
                                              "5;x =y =z\r\n",
                                              "5;bad[=x\r\n",
                                              "5;x=bad[\r\n",
                                              "5;\"x\"\r\n",
                                              "5;x\"y\"\r\n",
                                              "5;x=y\"z\"\r\n",
                                              "5;x=\"\r\n",
                                              "5;x=\"y\r\n",
                                              "5;x=\"\\\"\r\n",
                                              "5;x=\"\\\r\n",
                                              "5;x=\"y\"z\r\n",
                                              "5;x=\"y\"=z\r\n",
                                              "5;x=\"y\" \r\n",
                                              "5;x=\"y\"\"z\"\r\n",
                                              "5;x=\"\x01\"\r\n",
                                              "5;x=\"\x7f\"\r\n",
                                              "5;x=\"\\\x01\"\r\n",
                                              "5;x\xc3\r\n",
                                              "5;=;;\"\r\n",
                                              "5;\x01\r\n",
                                              "5;\x7f\r\n",
                                              "00000000000000005\r\n",  // 17 digits
                                              "3\r\nabcd",
                                              "3\r\nabc\n",
                                              "3\r\nabc\rx",
                                              "3\r\nabc0\r\n\r\n",
                                              "3\r\nabc\r\n\r\n",
                                              "0\r\n\n",
                                              "0\r\n\rx",
                                              "0\n\r\n",
                                              "0\r\n x: y\r\n\r\n",
                                              "0\r\nx: y\r\n folded\r\n\r\n",
                                              "0\r\n: y\r\n\r\n",
                                              "0\r\nx y: z\r\n\r\n",
                                              "0\r\nx : y\r\n\r\n",
                                              "0\r\nname\r\n\r\n",
                                              "0\r\nx: y\n\r\n",
                                              "0\r\nx: a\rb\r\n\r\n",
                                              "0\r\nx: \x01\r\n\r\n",
                                              "0\r\n\tx: y\r\n\r\n",
                                              std::string("5\0\r\n", 4),
                                              std::string("0\r\nx: \0\r\n\r\n", 10)};
  for (const std::string& text : malformed) {
    for (std::size_t size = 1; size <= text.size(); ++size) {
      const WholeBody body = Decode(InPiecesOf(size, text));
      EXPECT_EQ(body.state, BodyState::kBad) << text << " by " << size;
      EXPECT_EQ(body.status, 400) << text;
      EXPECT_NE(body.reason, "") << text;
    }
  }
}

TEST(ChunkedDecoderTest, ExtensionsOfTheGrammarAreDropped) {
  for (const std::string extension :
       {";x", " ; x", "\t;\tx", ";x;y", ";x ;y", ";x=y", ";x = y", ";x\t=\ty ;z", ";x=\"\"",
        ";x=\"y\" ; z", ";x=\"y\";z=1", ";x=\"a b\t\xc3\xa4\"", ";x=\"\\\"\\\\\\a\\ \\\xff\"",
        ";x=\";=,[\"", ";!#$%&'*+-.^_`|~09azAZ=!#$%&'*+-.^_`|~09azAZ"}) {
    const std::string text = "1" + extension + "\r\na\r\n0" + extension + "\r\n\r\n";
    for (std::size_t size = 1; size <= text.size(); ++size) {
      const WholeBody body = Decode(InPiecesOf(size, text));
      EXPECT_EQ(body.state, BodyState::kDone) << extension << ": " << body.reason;
      EXPECT_EQ(body.content, "a") << extension;
    }
  }
}

// A size is refused before its content arrives, and never wraps around to a small one.
TEST(ChunkedDecoderTest, TooLargeIs413) {
  BodyLimits limits;
  limits.max_body_bytes = 10;
  EXPECT_EQ(Decode({"a\r\n0123456789\r\n0\r\n\r\n"}, limits).state, BodyState::kDone);
  EXPECT_EQ(Decode({"b\r\n"}, limits).status, 413);
  EXPECT_EQ(Decode({"9\r\n012345678\r\n2\r\n"}, limits).status, 413);
  EXPECT_EQ(Decode({"9\r\n012345678\r\n1\r\n9\r\n0\r\n\r\n"}, limits).state, BodyState::kDone);
  EXPECT_EQ(Decode({"ffffffffffffffff\r\n"}, limits).status, 413);
  EXPECT_EQ(Decode({"8000000000000000\r\n"}, limits).status, 413);
  EXPECT_EQ(Decode({"10000000000000001\r\n"}, limits).status, 400);  // would be 1 in 64 bits
  limits.max_body_bytes = 0;
  EXPECT_EQ(Decode({"0\r\n\r\n"}, limits).state, BodyState::kDone);
  EXPECT_EQ(Decode({"1\r\n"}, limits).status, 413);
  limits.max_body_bytes = UINT64_MAX;
  EXPECT_EQ(Decode({"ffffffffffffffff\r\nx"}, limits).state, BodyState::kMore);
  EXPECT_EQ(Decode({"1\r\nx\r\nffffffffffffffff\r\n"}, limits).status, 413);
}

TEST(ChunkedDecoderTest, TrailersAreLimited) {
  BodyLimits limits;
  limits.max_trailer_bytes = 10;
  EXPECT_EQ(Decode({"0\r\na: b\r\nc: d\r\n\r\n"}, limits).state, BodyState::kDone);
  EXPECT_EQ(Decode({"0\r\na: b\r\nc: de\r\n\r\n"}, limits).status, 431);
  EXPECT_EQ(Decode({"0\r\n" + std::string(11, 'n')}, limits).status, 431);
  limits.max_trailer_bytes = 0;
  EXPECT_EQ(Decode({"0\r\n\r\n"}, limits).state, BodyState::kDone);
  EXPECT_EQ(Decode({"0\r\na"}, limits).status, 431);
}

TEST(ChunkedDecoderTest, ExtensionsAreLimitedByTheContent) {
  BodyLimits limits;
  limits.max_extension_bytes = 100;
  EXPECT_EQ(Decode({"1;" + std::string(99, 'x') + "\r\ny"}, limits).state, BodyState::kMore);
  EXPECT_EQ(Decode({"1;" + std::string(100, 'x') + "\r\n"}, limits).status, 400);
  EXPECT_EQ(Decode({"1" + std::string(101, ' ')}, limits).status, 400);
  // Small chunks with a long extension each: the limit is meant for these.
  std::string many;
  for (int i = 0; i < 11; ++i) {
    many += "1;3456789a\r\ny\r\n";
  }
  EXPECT_EQ(Decode({many}, limits).status, 0);  // 11 * 9 - 10 are not too many
  many += many;
  EXPECT_EQ(Decode({many}, limits).status, 400);
  // Signed chunks: a long extension each, but more content than that.
  std::string honest;
  for (int i = 0; i < 100; ++i) {
    honest += "80;" + std::string(90, 's') + "\r\n" + std::string(128, 'y') + "\r\n";
  }
  const WholeBody body = Decode({honest + "0\r\n\r\n"}, limits);
  EXPECT_EQ(body.state, BodyState::kDone) << body.reason;
  EXPECT_EQ(body.content.size(), 12'800U);
}

TEST(ChunkedDecoderTest, WhatTheWriterWritesIsReadBack) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string content;
    std::string coded;
    for (std::size_t chunks = random() % 10; chunks > 0; --chunks) {
      const std::string chunk(1 + random() % 5000, static_cast<char>('a' + chunks));
      coded += ChunkHead(chunk.size()).View();
      coded += chunk;
      coded += kChunkEnd;
      content += chunk;
    }
    coded += kLastChunk;
    const WholeBody body = Decode(InPiecesOf(1 + random() % 3000, coded));
    ASSERT_EQ(body.state, BodyState::kDone) << body.reason;
    ASSERT_TRUE(body.content == content);
    ASSERT_EQ(body.consumed, coded.size());
  }
}

// Any bytes at all: the decoder decides or waits, never reads outside its input, and never gives
// more content than allowed. The harness checks every step.
TEST(ChunkedDecoderTest, AnyBytes) {
  std::mt19937 random(1);
  const std::string alphabet = "0015aF;= \t\r\n\r\nxX:\"\\\x7f\xff";
  BodyLimits limits;
  limits.max_body_bytes = 20;
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 40, '\0');
    std::generate(text.begin(), text.end(), [&] { return alphabet[random() % alphabet.size()]; });
    const WholeBody whole = Decode({text}, limits);
    const WholeBody bytes = Decode(InPiecesOf(1, text), limits);
    ASSERT_EQ(whole.state, bytes.state) << testing::PrintToString(text);
    ASSERT_EQ(whole.status, bytes.status) << testing::PrintToString(text);
    ASSERT_EQ(whole.consumed, bytes.consumed) << testing::PrintToString(text);
    ASSERT_LE(bytes.content.size(), 20U);
    if (whole.state != BodyState::kBad) {
      ASSERT_EQ(whole.content, bytes.content) << testing::PrintToString(text);
    }
  }
}

TEST(ChunkHeadTest, WritesTheSizeInHexadecimal) {
  EXPECT_EQ(ChunkHead(1).View(), "1\r\n");
  EXPECT_EQ(ChunkHead(15).View(), "f\r\n");
  EXPECT_EQ(ChunkHead(16).View(), "10\r\n");
  EXPECT_EQ(ChunkHead(65536).View(), "10000\r\n");
  EXPECT_EQ(ChunkHead(UINT64_MAX).View(), "ffffffffffffffff\r\n");
  const ChunkHead head(0xabc);
  const ChunkHead copy = head;
  EXPECT_EQ(copy.View(), "abc\r\n");
  EXPECT_NE(copy.View().data(), head.View().data());
}

}  // namespace
}  // namespace TURTLE_SERVER
