// A padded body is longer, and decodes as before.
#include "compress/padded_gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "compress/coding.h"
#include "compress/make_encoder.h"
#include "support/decode.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::size_t kHeader = 10;
constexpr std::size_t kFlags = 3;  // where they are in the header

auto Text() -> std::string {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += "<li>turtle " + std::to_string(i) + "</li>\n";
  }
  return text;
}

auto Gzip(std::string_view text) -> std::string {
  return EncodeAll(Coding::kGzip, Effort::kLow, text);
}

// The fields of a header, as zlib reads them.
struct Fields {
  bool has_name = false;
  bool has_comment = false;
  bool has_extra = false;
  std::string name;
};

auto FieldsOf(const std::string& gzip) -> Fields {
  std::string name(100'000, '?');
  gz_header header{};
  Bytef other = 0;
  header.name = reinterpret_cast<Bytef*>(name.data());
  header.name_max = static_cast<uInt>(name.size());
  header.comment = &other;
  header.comm_max = 1;
  header.extra = &other;
  header.extra_max = 1;
  std::string plain(1 << 16, '\0');
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  inflateGetHeader(&stream, &header);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  Fields fields;
  fields.has_name = header.name != nullptr;
  fields.has_comment = header.comment != nullptr;
  fields.has_extra = header.extra != nullptr;
  fields.name = fields.has_name ? name.c_str() : "";
  return fields;
}

TEST(PaddedGzipTest, IsLongerByTheCount) {
  const std::string gzip = Gzip(Text());
  for (const std::size_t count : {1, 2, 3, 17, 255, 256, 70'000}) {
    EXPECT_EQ(PaddedGzip(gzip, count).size(), gzip.size() + count);
  }
}

TEST(PaddedGzipTest, TheTextIsTheSame) {
  for (const std::string& text : {Text(), std::string("t"), std::string()}) {
    for (const std::size_t count : {0, 1, 2, 63, 70'000}) {
      EXPECT_EQ(test::Decode("gzip", PaddedGzip(Gzip(text), count)), text) << count;
    }
  }
}

TEST(PaddedGzipTest, ThePaddingIsAName) {
  for (const std::size_t count : {1, 2, 63, 1000}) {
    const Fields fields = FieldsOf(PaddedGzip(Gzip(Text()), count));
    EXPECT_TRUE(fields.has_name) << count;
    EXPECT_EQ(fields.name, std::string(count - 1, 'a'));
    EXPECT_FALSE(fields.has_comment);
    EXPECT_FALSE(fields.has_extra);
  }
}

TEST(PaddedGzipTest, TheOtherBytesStay) {
  const std::string gzip = Gzip(Text());
  std::string padded = PaddedGzip(gzip, 5);
  ASSERT_EQ(padded.substr(kHeader, 5), std::string("aaaa\0", 5));
  padded.erase(kHeader, 5);
  padded[kFlags] = '\0';
  EXPECT_EQ(padded, gzip);
}

TEST(PaddedGzipTest, ACountOfZeroChangesNothing) {
  const std::string gzip = Gzip(Text());
  EXPECT_EQ(PaddedGzip(gzip, 0), gzip);
  EXPECT_FALSE(FieldsOf(PaddedGzip(gzip, 0)).has_name);
}

TEST(PaddedGzipTest, TheFlagOfTextIsNoField) {
  std::string gzip = Gzip(Text());
  gzip[kFlags] = 1;  // "probably text"
  const std::string padded = PaddedGzip(gzip, 9);
  EXPECT_EQ(padded.size(), gzip.size() + 9);
  EXPECT_EQ(padded[kFlags], 1 | 8);
  EXPECT_EQ(test::Decode("gzip", padded), Text());
}

TEST(PaddedGzipTest, OtherFieldsAreLeftAlone) {
  for (const int flags : {2, 4, 8, 16, 32, 64, 128, 1 | 2, 0xff}) {
    std::string gzip = Gzip(Text());
    gzip[kFlags] = static_cast<char>(flags);
    EXPECT_EQ(PaddedGzip(gzip, 9), gzip) << flags;
  }
  const std::string once = PaddedGzip(Gzip(Text()), 9);
  EXPECT_EQ(PaddedGzip(once, 9), once) << "it has a name";
}

TEST(PaddedGzipTest, WhatIsNoGzipIsLeftAlone) {
  const std::string gzip = Gzip(Text());
  for (std::size_t i = 0; i < kFlags; ++i) {
    std::string other = gzip;
    other[i] = static_cast<char>(other[i] + 1);
    EXPECT_EQ(PaddedGzip(other, 9), other) << i;
  }
  EXPECT_EQ(PaddedGzip(Text(), 9), Text());
}

TEST(PaddedGzipTest, AHeaderThatIsCutIsLeftAlone) {
  const std::string gzip = Gzip(Text());
  for (std::size_t size = 0; size < kHeader; ++size) {
    EXPECT_EQ(PaddedGzip(gzip.substr(0, size), 9), gzip.substr(0, size)) << size;
  }
  EXPECT_EQ(PaddedGzip(gzip.substr(0, kHeader), 9).size(), kHeader + 9);
}

TEST(PaddedGzipTest, TheFirstPieceOfAStreamMayBePadded) {
  const auto encoder = MakeEncoder(Coding::kGzip, Effort::kLow);
  std::string first;
  encoder->Encode("data: one\n\n", Flush::kPiece, first);
  std::string second;
  encoder->Encode("data: two\n\n", Flush::kEnd, second);
  const std::string padded = PaddedGzip(first, 40);
  EXPECT_EQ(padded.size(), first.size() + 40);
  EXPECT_EQ(test::DecodeStart(padded), "data: one\n\n");
  EXPECT_EQ(test::Decode("gzip", padded + second), "data: one\n\ndata: two\n\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
