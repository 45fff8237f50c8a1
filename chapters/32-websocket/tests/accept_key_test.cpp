// The proof of the handshake.
#include "websocket/accept_key.h"

#include <gtest/gtest.h>

#include <string>

namespace TURTLE_SERVER {
namespace {

auto Hex(std::string_view text) -> std::string {
  std::string hex;
  for (const std::uint8_t byte : Sha1(text)) {
    hex.push_back("0123456789abcdef"[byte >> 4]);
    hex.push_back("0123456789abcdef"[byte & 15]);
  }
  return hex;
}

TEST(AcceptKeyTest, IsThatOfTheRfc) {
  EXPECT_EQ(AcceptKey("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(AcceptKeyTest, DigestsTextsOfEveryLength) {
  EXPECT_EQ(Hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(Hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(Hex(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(AcceptKeyTest, EncodesBase64) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob"), "Zm9vYg==");
  EXPECT_EQ(Base64("\xff\xfe\xfd"), "//79");
}

TEST(AcceptKeyTest, KnowsAClientsKey) {
  EXPECT_TRUE(IsClientKey("dGhlIHNhbXBsZSBub25jZQ=="));
  EXPECT_FALSE(IsClientKey(""));
  EXPECT_FALSE(IsClientKey("dGhlIHNhbXBsZSBub25jZQ="));
  EXPECT_FALSE(IsClientKey("dGhlIHNhbXBsZSBub25jZWE="));
  EXPECT_FALSE(IsClientKey("dGhlIHNhbXBsZ!Bub25jZQ=="));
  EXPECT_FALSE(IsClientKey("dGhlIHNhbXBsZSBub25jZQ==dGhlIHNhbXBsZSBub25jZQ=="));
}

}  // namespace
}  // namespace TURTLE_SERVER
