// A body that is decoded piece by piece, within its limits.
#include "compress/body_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compress/make_encoder.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1024} * 1024;
constexpr DecodeLimits kLimits = {16 * kMib, 200};

// Numbers: they shrink, but not to nothing.
auto Text(std::size_t size) -> std::string {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) {
    text += std::to_string(i * i % 1'000'003) + ", ";
  }
  text.resize(size);
  return text;
}

struct Outcome {
  int status = 0;
  std::string reason;
  std::string plain;
  int pieces = 0;
  bool ended = false;
};

// Adds `step` bytes at a time, and takes all pieces.
auto Decode(BodyDecoder& decoder, std::string_view coded, std::size_t step) -> Outcome {
  Outcome all;
  do {
    EXPECT_TRUE(decoder.WantsInput());
    const std::string_view piece = coded.substr(0, step);
    coded.remove_prefix(piece.size());
    decoder.Add(std::string(piece), coded.empty());
    while (!decoder.WantsInput() && !all.ended && all.status == 0) {
      const DecodedPiece next = decoder.Next();
      EXPECT_LE(next.plain.size(), BodyDecoder::kMaxPiece);
      all.plain += next.plain;
      all.pieces += next.plain.empty() ? 0 : 1;
      all.status = next.status;
      all.reason = next.reason;
      all.ended = next.last;
    }
  } while (!all.ended && all.status == 0);
  return all;
}

auto Decode(Coding coding, std::string_view coded, const DecodeLimits& limits = kLimits,
            std::size_t step = std::string::npos) -> Outcome {
  BodyDecoder decoder(coding, limits);
  return Decode(decoder, coded, step);
}

class BodyDecoderTest : public testing::TestWithParam<Coding> {
 protected:
  static auto Coded(std::string_view plain) -> std::string {
    return EncodeAll(GetParam(), Effort::kLow, plain);
  }
};

INSTANTIATE_TEST_SUITE_P(All, BodyDecoderTest,
                         testing::Values(Coding::kGzip, Coding::kBrotli, Coding::kZstd),
                         [](const auto& each) { return std::string(NameOf(each.param)); });

TEST_P(BodyDecoderTest, ABodyComesInPiecesAndEnds) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, BodyDecoder::kMaxPiece,
                                 BodyDecoder::kMaxPiece + 1, std::size_t{300'000}}) {
    const std::string coded = Coded(Text(size));
    for (const std::size_t step : {std::size_t{13}, std::size_t{4096}, coded.size()}) {
      const Outcome all = Decode(GetParam(), coded, kLimits, step);
      EXPECT_EQ(all.status, 0) << all.reason;
      EXPECT_TRUE(all.ended);
      EXPECT_TRUE(all.plain == Text(size)) << size << ' ' << step;
      EXPECT_GE(all.pieces, static_cast<int>(size / BodyDecoder::kMaxPiece));
    }
  }
}

TEST_P(BodyDecoderTest, TheEndMayBeToldLater) {
  BodyDecoder decoder(GetParam(), kLimits);
  decoder.Add(Coded("body"), false);
  std::string plain;
  while (!decoder.WantsInput()) {
    const DecodedPiece piece = decoder.Next();
    EXPECT_FALSE(piece.last);
    plain += piece.plain;
  }
  EXPECT_EQ(plain, "body");
  EXPECT_EQ(decoder.Next().plain, "") << "there is nothing to decode";
  decoder.Add({}, true);
  EXPECT_FALSE(decoder.WantsInput());
  const DecodedPiece last = decoder.Next();
  EXPECT_TRUE(last.last);
  EXPECT_EQ(last.status, 0);
  EXPECT_FALSE(decoder.WantsInput());
}

TEST_P(BodyDecoderTest, NoBytesAreAnEmptyBody) {
  const Outcome all = Decode(GetParam(), "");
  EXPECT_EQ(all.status, 0);
  EXPECT_TRUE(all.ended);
  EXPECT_EQ(all.plain, "");
}

TEST_P(BodyDecoderTest, ABodyThatEndsEarlyIsRefused) {
  const std::string coded = Coded(Text(1000));
  for (const std::size_t size : {std::size_t{1}, coded.size() / 2, coded.size() - 1}) {
    const Outcome all = Decode(GetParam(), coded.substr(0, size));
    EXPECT_EQ(all.status, 400) << size;
    EXPECT_EQ(all.reason, "The body ends within its " + std::string(NameOf(GetParam())) + " data.");
  }
}

TEST_P(BodyDecoderTest, WhatIsNotValidIsRefused) {
  for (const std::string& coded : {"no such coding" + Coded("x"), Coded("body") + "garbage"}) {
    const Outcome all = Decode(GetParam(), coded);
    EXPECT_EQ(all.status, 400);
    EXPECT_EQ(all.reason, "The body is not valid " + std::string(NameOf(GetParam())) + ".");
  }
}

TEST_P(BodyDecoderTest, TheLimitIsInclusive) {
  for (const std::uint64_t most : {std::uint64_t{1}, BodyDecoder::kMaxPiece + std::uint64_t{5}}) {
    const DecodeLimits limits = {most, 200};
    EXPECT_EQ(Decode(GetParam(), Coded(Text(most)), limits).status, 0);
    const Outcome beyond = Decode(GetParam(), Coded(Text(most + 1)), limits);
    EXPECT_EQ(beyond.status, 413);
    EXPECT_EQ(beyond.reason, "The decoded body has more than " + std::to_string(most) + " bytes.");
    EXPECT_LE(beyond.plain.size(), most);
  }
}

TEST_P(BodyDecoderTest, ABombIsDefusedEarly) {
  const std::string bomb = Coded(std::string(64 * kMib, '\0'));
  const Outcome all = Decode(GetParam(), bomb, {1024 * kMib, 200});
  EXPECT_EQ(all.status, 413);
  EXPECT_EQ(all.reason, "The decoded body has more than 200 times the bytes that were sent.");
  EXPECT_LE(all.plain.size(), std::max(2 * kMib, bomb.size() * std::uint64_t{200}));
  EXPECT_LT(all.plain.size(), 64 * kMib);
}

TEST_P(BodyDecoderTest, TheFirstMibMayBeAllZeros) {
  EXPECT_EQ(Decode(GetParam(), Coded(std::string(BodyDecoder::kFreeBytes, '\0'))).status, 0);
  EXPECT_EQ(Decode(GetParam(), Coded(Text(2 * kMib)), {4 * kMib, 200}).status, 0);
  EXPECT_EQ(Decode(GetParam(), Coded(Text(2 * kMib)), {4 * kMib, 1}).status, 413);
  EXPECT_EQ(Decode(GetParam(), Coded(std::string(2 * kMib, '\0')), {4 * kMib, SIZE_MAX}).status, 0)
      << "no overflow";
}

}  // namespace
}  // namespace TURTLE_SERVER
