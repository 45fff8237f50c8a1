#include "http/encode_path.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "http/uri.h"

namespace TURTLE_SERVER {
namespace {

TEST(EncodePathTest, LettersDigitsAndSlashesStay) {
  EXPECT_EQ(EncodePath("/docs/AZaz09.html"), "/docs/AZaz09.html");
  EXPECT_EQ(EncodePath("sub/"), "sub/");
  EXPECT_EQ(EncodePath("/"), "/");
  EXPECT_EQ(EncodePath(""), "");
}

TEST(EncodePathTest, PunctuationOfASegmentStays) {
  EXPECT_EQ(EncodePath("-._~!$&'()*+,;=:@"), "-._~!$&'()*+,;=:@");
}

TEST(EncodePathTest, WhatEndsAPathIsEncoded) {
  EXPECT_EQ(EncodePath("a?b"), "a%3Fb");
  EXPECT_EQ(EncodePath("a#b"), "a%23b");
}

TEST(EncodePathTest, APercentSignIsEncodedEvenBeforeHexDigits) {
  EXPECT_EQ(EncodePath("100%"), "100%25");
  EXPECT_EQ(EncodePath("%2e%2E"), "%252e%252E");
}

TEST(EncodePathTest, NothingSplitsAFieldOrATag) {
  EXPECT_EQ(EncodePath("a\r\nb"), "a%0D%0Ab");
  EXPECT_EQ(EncodePath("<\"a b\">"), "%3C%22a%20b%22%3E");
  EXPECT_EQ(EncodePath("[\\]^`{|}"), "%5B%5C%5D%5E%60%7B%7C%7D");
}

TEST(EncodePathTest, EveryByteIsWrittenWithTwoCapitalDigits) {
  EXPECT_EQ(EncodePath(std::string_view("\0\x01\x7f\x80\xff", 5)), "%00%01%7F%80%FF");
  EXPECT_EQ(EncodePath("\xc3\xa9"), "%C3%A9");
}

// The neighbors of the ranges '0'..'9', 'A'..'Z' and 'a'..'z' are the bytes that an off-by-one
// error would let through.
TEST(EncodePathTest, OnlyTheseBytesStay) {
  constexpr std::string_view kPlain =
      "/-._~!$&'()*+,;=:@0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    const bool stays = kPlain.find(one[0]) != std::string_view::npos;
    EXPECT_EQ(EncodePath(one).size(), stays ? 1U : 3U) << byte;
  }
}

TEST(EncodePathTest, DecodingGivesThePathAgain) {
  for (const char* path :
       {"/a b/c%d", "/100%25", "/?#[]", "/caf\xc3\xa9", "/\xff\xfe", "/:@&=+$,"}) {
    const std::string target = EncodePath(path);
    Uri uri;
    ASSERT_FALSE(uri.Parse(target, Method::kGet)) << target;
    EXPECT_EQ(uri.Path(), path) << target;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
