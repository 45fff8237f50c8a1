// Each coding, whole and in pieces, as its own library decodes it.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "compress/make_encoder.h"
#include "support/decode.h"

namespace TURTLE_SERVER {
namespace {

class EncoderTest : public testing::TestWithParam<Coding> {
 protected:
  static auto Text(std::size_t size) -> std::string {
    std::string text;
    for (unsigned i = 0; text.size() < size; ++i) {  // the numbers seem random
      text += "line " + std::to_string(i * i * 2654435761U % 10007) + " of a text that repeats\n";
    }
    text.resize(size);
    return text;
  }

  static auto Noise(std::size_t size) -> std::string {
    std::mt19937 random(7);  // NOLINT: the same each time
    std::string noise(size, '\0');
    for (char& each : noise) {
      each = static_cast<char>(random());
    }
    return noise;
  }

  static auto Decode(const std::string& coded) -> std::string {
    return test::Decode(NameOf(GetParam()), coded);
  }
};

INSTANTIATE_TEST_SUITE_P(All, EncoderTest,
                         testing::Values(Coding::kGzip, Coding::kBrotli, Coding::kZstd),
                         [](const auto& each) { return std::string(NameOf(each.param)); });

TEST_P(EncoderTest, AWholeBodyComesBack) {
  for (const Effort effort : {Effort::kLow, Effort::kHigh}) {
    for (const std::size_t size : {0, 1, 100, 1000, 16 * 1024, 16 * 1024 + 1, 300'000}) {
      EXPECT_EQ(Decode(EncodeAll(GetParam(), effort, Text(size))), Text(size)) << size;
      EXPECT_EQ(Decode(EncodeAll(GetParam(), effort, Noise(size))), Noise(size)) << size;
    }
  }
}

// Numbers are text in which an encoder finds little, so it keeps its last blocks for long.
TEST_P(EncoderTest, TheEndOfALongBodyIsThere) {
  std::string numbers;
  for (int i = 0; numbers.size() < 700'000; ++i) {
    numbers += std::to_string(i) + "\n";
  }
  for (std::size_t size = 100'000; size < numbers.size(); size += 50'000) {
    for (const Effort effort : {Effort::kLow, Effort::kHigh}) {
      const std::string text = numbers.substr(0, size);
      EXPECT_TRUE(Decode(EncodeAll(GetParam(), effort, text)) == text) << size;
    }
  }
}

TEST_P(EncoderTest, TextBecomesShorter) {
  const std::string text = Text(100'000);
  const std::size_t low = EncodeAll(GetParam(), Effort::kLow, text).size();
  EXPECT_LT(low, text.size() / 3);
  EXPECT_LE(EncodeAll(GetParam(), Effort::kHigh, text).size(), low);
}

TEST_P(EncoderTest, PiecesComeBackWhateverTheirSize) {
  const std::string text = Text(40'000) + Noise(40'000);
  for (const std::size_t step : {1, 7, 1000, 70'000}) {
    for (const Flush flush : {Flush::kNone, Flush::kPiece}) {
      const auto encoder = MakeEncoder(GetParam(), Effort::kLow);
      std::string coded = "before";
      const std::size_t most = step == 1 ? 2000 : text.size();
      for (std::size_t at = 0; at < most; at += step) {
        encoder->Encode(std::string_view(text).substr(at, std::min(step, most - at)), flush, coded);
      }
      encoder->Encode({}, Flush::kEnd, coded);
      ASSERT_EQ(coded.substr(0, 6), "before") << "it is appended";
      EXPECT_EQ(Decode(coded.substr(6)), text.substr(0, most)) << step;
    }
  }
}

TEST(GzipEncoderTest, APieceCanBeReadAtOnce) {
  const auto encoder = MakeEncoder(Coding::kGzip, Effort::kLow);
  std::string coded;
  encoder->Encode("data: one\n\n", Flush::kPiece, coded);
  EXPECT_EQ(test::DecodeStart(coded), "data: one\n\n");
  encoder->Encode("data: two\n\n", Flush::kPiece, coded);
  EXPECT_EQ(test::DecodeStart(coded), "data: one\n\ndata: two\n\n");
}

TEST_P(EncoderTest, ABodyThatIsShorterThanPromisedIsNoDisaster) {
  const auto encoder = MakeEncoder(GetParam(), Effort::kLow, 1000);
  std::string coded;
  encoder->Encode("short", Flush::kPiece, coded);
}

}  // namespace
}  // namespace TURTLE_SERVER
