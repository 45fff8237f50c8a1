// Each coding, decoded whole and in pieces, valid and not.
#include "compress/decoder.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>

#include "compress/make_decoder.h"
#include "compress/make_encoder.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::size_t kAll = std::size_t{1} << 20;

auto Text(std::size_t size) -> std::string {
  std::string text;
  for (int i = 0; text.size() < size; ++i) {
    text += "line " + std::to_string(i * i) + " of a text that repeats itself\n";
  }
  text.resize(size);
  return text;
}

auto Noise(std::size_t size, unsigned seed = 7) -> std::string {
  std::mt19937 random(seed);  // NOLINT: the same each time
  std::string noise(size, '\0');
  for (char& each : noise) {
    each = static_cast<char>(random());
  }
  return noise;
}

struct Decoded {
  DecodeState state = DecodeState::kMore;
  std::string plain;
};

// Gives a decoder `step` bytes at a time, and room for `most`, until it has no use for either.
auto Decode(Coding coding, std::string_view coded, std::size_t step, std::size_t most) -> Decoded {
  const auto decoder = MakeDecoder(coding);
  Decoded all;
  do {
    const std::size_t size = std::min(step, coded.size());
    const auto block = std::make_unique<char[]>(size);  // a read beyond its end is an error
    coded.copy(block.get(), size);
    std::string_view piece(block.get(), size);
    std::size_t before = 0;
    do {
      before = all.plain.size();
      all.state = decoder->Decode(piece, most, all.plain);
      EXPECT_LE(all.plain.size() - before, most);
      if (all.state == DecodeState::kBad) {
        return all;
      }
    } while (all.plain.size() - before == most);
    EXPECT_EQ(piece.size(), 0U) << "there was room";
    coded.remove_prefix(size);
  } while (!coded.empty());
  return all;
}

auto DecodeAll(Coding coding, std::string_view coded) -> Decoded {
  return Decode(coding, coded, coded.size(), kAll);
}

class DecoderTest : public testing::TestWithParam<Coding> {
 protected:
  static auto Coded(std::string_view plain) -> std::string {
    return EncodeAll(GetParam(), Effort::kLow, plain);
  }
};

INSTANTIATE_TEST_SUITE_P(All, DecoderTest,
                         testing::Values(Coding::kGzip, Coding::kBrotli, Coding::kZstd),
                         [](const auto& each) { return std::string(NameOf(each.param)); });

TEST_P(DecoderTest, ABodyComesBackWhateverThePiecesAndTheRoom) {
  const std::string zeros(100'000, '\0');
  for (const std::string& plain : {std::string(), Text(1), Text(5000), Noise(5000), zeros}) {
    const std::string coded = Coded(plain);
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, coded.size()}) {
      for (const std::size_t most : {std::size_t{1}, std::size_t{1000}, plain.size() + 1}) {
        const Decoded decoded = Decode(GetParam(), coded, step, most);
        EXPECT_EQ(decoded.state, DecodeState::kDone) << step << ' ' << most;
        EXPECT_TRUE(decoded.plain == plain) << plain.size() << ' ' << step << ' ' << most;
      }
    }
  }
}

TEST_P(DecoderTest, WhatIsThereAlreadyStays) {
  std::string plain = "before";
  const std::string coded = Coded("after");
  std::string_view input = coded;
  EXPECT_EQ(MakeDecoder(GetParam())->Decode(input, 100, plain), DecodeState::kDone);
  EXPECT_EQ(plain, "beforeafter");
}

TEST_P(DecoderTest, BytesThatWereFlushedCanBeReadBeforeTheEnd) {
  const auto encoder = MakeEncoder(GetParam(), Effort::kLow);
  const auto decoder = MakeDecoder(GetParam());
  for (const std::string piece : {"one", "two", "three"}) {
    std::string coded;
    std::string plain;
    encoder->Encode(piece, Flush::kPiece, coded);
    std::string_view input = coded;
    EXPECT_EQ(decoder->Decode(input, 100, plain), DecodeState::kMore);
    EXPECT_EQ(plain, piece);
  }
}

TEST_P(DecoderTest, NothingIsNotComplete) {
  const auto decoder = MakeDecoder(GetParam());
  std::string plain;
  for (int i = 0; i < 100; ++i) {  // asking is no error
    std::string_view nothing;
    EXPECT_EQ(decoder->Decode(nothing, 100, plain), DecodeState::kMore);
  }
  const std::string coded = Coded("now");
  std::string_view input = coded;
  EXPECT_EQ(decoder->Decode(input, 100, plain), DecodeState::kDone);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(decoder->Decode(input, 100, plain), DecodeState::kDone) << "still";
  }
  EXPECT_EQ(plain, "now");
}

TEST_P(DecoderTest, NoBeginningIsComplete) {
  const std::string coded = Coded(Text(500));
  for (std::size_t size = 0; size < coded.size(); ++size) {
    const Decoded decoded = DecodeAll(GetParam(), coded.substr(0, size));
    EXPECT_EQ(decoded.state, DecodeState::kMore) << size << " of " << coded.size();
    EXPECT_EQ(decoded.plain, Text(500).substr(0, decoded.plain.size()));
  }
}

// Brotli has no checksum: some damage gives another text.
TEST_P(DecoderTest, DamageIsSeenWhereTheCodingCanSeeIt) {
  const std::string plain = Text(300);
  const std::string coded = Coded(plain);
  int refused = 0;
  for (std::size_t at = 0; at < coded.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = coded;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const Decoded decoded = DecodeAll(GetParam(), damaged);
      refused += decoded.state == DecodeState::kDone && decoded.plain != plain ? 0 : 1;
      if (GetParam() == Coding::kGzip) {
        EXPECT_TRUE(decoded.state != DecodeState::kDone || decoded.plain == plain) << at;
      }
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_P(DecoderTest, NothingMayFollow) {
  for (const std::string garbage : {"garbage", "\n\n", "HTTP"}) {
    const std::string coded = Coded("body") + garbage;
    for (const std::size_t step : {std::size_t{1}, coded.size()}) {
      EXPECT_EQ(Decode(GetParam(), coded, step, kAll).state, DecodeState::kBad) << garbage;
      EXPECT_EQ(Decode(GetParam(), coded, step, 1).state, DecodeState::kBad) << garbage;
    }
  }
}

TEST_P(DecoderTest, OneByteThatFollowsIsEnough) {
  EXPECT_NE(DecodeAll(GetParam(), Coded("body") + "x").state, DecodeState::kDone);
}

TEST_P(DecoderTest, OnlyBrotliIsASingleMember) {
  const std::string coded = Coded("one,") + Coded("") + Coded("two");
  for (const std::size_t step : {std::size_t{1}, coded.size()}) {
    for (const std::size_t most : {std::size_t{1}, std::size_t{4}, kAll}) {
      const Decoded decoded = Decode(GetParam(), coded, step, most);
      if (GetParam() == Coding::kBrotli) {
        EXPECT_EQ(decoded.state, DecodeState::kBad);
      } else {
        EXPECT_EQ(decoded.state, DecodeState::kDone);
        EXPECT_EQ(decoded.plain, "one,two") << step << ' ' << most;
      }
    }
  }
  const std::string half = coded.substr(0, coded.size() - 1);
  EXPECT_NE(DecodeAll(GetParam(), half).state, DecodeState::kDone);
}

TEST_P(DecoderTest, OtherCodingsAreNotGuessed) {
  for (const Coding other : {Coding::kGzip, Coding::kZstd}) {
    if (other != GetParam()) {
      EXPECT_NE(DecodeAll(GetParam(), EncodeAll(other, Effort::kLow, Text(300))).state,
                DecodeState::kDone);
    }
  }
}

TEST_P(DecoderTest, NoiseIsHarmless) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const std::string noise = Noise(1 + seed % 300, seed);
    const Decoded whole = DecodeAll(GetParam(), noise);
    const Decoded pieces = Decode(GetParam(), noise, 1 + seed % 5, 1 + seed % 1000);
    EXPECT_EQ(whole.state, pieces.state) << seed;
    // So does noise after a good beginning.
    const std::string coded = Coded(Text(2000));
    static_cast<void>(
        Decode(GetParam(), coded.substr(0, seed % coded.size()) + noise, 1 + seed % 50, 1000));
  }
}

TEST(GzipDecoderTest, TheFieldsOfItsHeaderAreSkipped) {
  const std::string coded = EncodeAll(Coding::kGzip, Effort::kLow, "plain");
  std::string named = coded.substr(0, 3) + '\x08' + coded.substr(4, 6);  // FNAME
  named += std::string("a-file.txt\0", 11) + coded.substr(10);
  const Decoded decoded = Decode(Coding::kGzip, named, 3, kAll);
  EXPECT_EQ(decoded.state, DecodeState::kDone);
  EXPECT_EQ(decoded.plain, "plain");
}

TEST(GzipDecoderTest, ZlibsOwnHeaderIsNotGzip) {
  const std::string zlib("\x78\x9c\x03\x00\x00\x00\x00\x01", 8);  // "" as "deflate" has it
  EXPECT_EQ(DecodeAll(Coding::kGzip, zlib).state, DecodeState::kBad);
}

// A large window of Brotli begins with these bits (0x11 and the window's size).
TEST(BrotliDecoderTest, LargeWindowsAreRefused) {
  const std::string large("\x11\x1e\x00\x00\x03", 5);
  EXPECT_EQ(DecodeAll(Coding::kBrotli, large).state, DecodeState::kBad);
}

auto ZstdFrame(int window) -> std::string {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window);
  std::string coded(1000, '\0');
  ZSTD_inBuffer in = {"text", 4, 0};
  ZSTD_outBuffer out = {coded.data(), coded.size(), 0};
  ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_flush);  // the length isn't known yet
  ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_end);
  coded.resize(out.pos);
  return coded;
}

TEST(ZstdDecoderTest, AWindowOf8MibIsTheLargest) {
  EXPECT_EQ(DecodeAll(Coding::kZstd, ZstdFrame(23)).plain, "text");
  EXPECT_EQ(DecodeAll(Coding::kZstd, ZstdFrame(24)).state, DecodeState::kBad);
}

TEST(ZstdDecoderTest, FramesThatAreSkippedHaveNoText) {
  const std::string skipped("\x5a\x2a\x4d\x18\x03\0\0\0abc", 11);
  const std::string coded = skipped + ZstdFrame(20) + skipped;
  for (const std::size_t step : {std::size_t{1}, coded.size()}) {
    const Decoded decoded = Decode(Coding::kZstd, coded, step, 2);
    EXPECT_EQ(decoded.state, DecodeState::kDone);
    EXPECT_EQ(decoded.plain, "text");
  }
}

TEST(ZstdDecoderTest, FormatsBeforeItsStandardAreRefused) {
  for (char version = 0x1e; version < 0x28; ++version) {
    const std::string old = std::string(1, version) + "\xb5\x2f\xfd";
    EXPECT_EQ(DecodeAll(Coding::kZstd, old).state, DecodeState::kBad);
    EXPECT_EQ(DecodeAll(Coding::kZstd, ZstdFrame(20) + old).state, DecodeState::kBad);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
