// Masking, wherever a piece begins and ends.
#include "websocket/masking.h"

#include <gtest/gtest.h>

#include <string>

namespace TURTLE_SERVER {
namespace {

constexpr MaskingKey kKey = {0x37, 0xfa, 0x21, 0x3d};

// Byte by byte, as the RFC says it.
auto Slowly(std::string text, std::size_t offset) -> std::string {
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(static_cast<std::uint8_t>(text[i]) ^ kKey[(offset + i) % 4]);
  }
  return text;
}

TEST(MaskingTest, UnmasksTheExampleOfTheRfc) {
  std::string text("\x7f\x9f\x4d\x51\x58", 5);
  Mask(kKey, 0, text.data(), text.data(), text.size());
  EXPECT_EQ(text, "Hello");
}

TEST(MaskingTest, TakesAnyOffsetAndLength) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text.push_back(static_cast<char>(i * 7));
  }
  for (std::size_t offset = 0; offset < 9; ++offset) {
    for (std::size_t size = 0; size <= text.size(); ++size) {
      std::string masked(size, '\0');
      Mask(kKey, offset, text.data(), masked.data(), size);
      ASSERT_EQ(masked, Slowly(text.substr(0, size), offset)) << offset << ", " << size;
    }
  }
}

TEST(MaskingTest, WritesNothingBeyondThePiece) {
  std::string text = "abcdefghijklmnop";
  Mask(kKey, 0, text.data(), text.data(), 11);
  EXPECT_EQ(text, Slowly("abcdefghijk", 0) + "lmnop");
}

}  // namespace
}  // namespace TURTLE_SERVER
