#include "base/field_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace TURTLE_SERVER {
namespace {

using Skip = const char* (*)(const char*, const char*);

// Puts every byte value at every place of texts around the width of a register, in a block that
// ends with the text: AddressSanitizer sees a read beyond it.
void ExpectSame(Skip fast, Skip reference, char filler) {
  for (std::size_t size = 0; size <= 40; ++size) {
    const auto block = std::make_unique<char[]>(size);
    for (std::size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::fill_n(block.get(), size, filler);
        block[place] = static_cast<char>(byte);
        const char* end = block.get() + size;
        ASSERT_EQ(fast(block.get(), end) - block.get(), reference(block.get(), end) - block.get())
            << "byte " << byte << " at " << place << " of " << size;
      }
    }
  }
}

TEST(FieldScan, FastAndPortableAgreeOnTokens) {
  ExpectSame(scan::SkipToken, scan::portable::SkipToken, 'a');
  ExpectSame(scan::SkipToken, scan::portable::SkipToken, '9');
}

TEST(FieldScan, FastAndPortableAgreeOnFieldText) {
  ExpectSame(scan::SkipFieldText, scan::portable::SkipFieldText, ' ');
}

TEST(FieldScan, FastAndPortableAgreeOnTargetText) {
  ExpectSame(scan::SkipTargetText, scan::portable::SkipTargetText, '/');
}

auto Accepted(Skip skip) -> std::string {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    const char byte = static_cast<char>(i);
    if (skip(&byte, &byte + 1) != &byte) {
      bytes += byte;
    }
  }
  return bytes;
}

TEST(FieldScan, TokensAreThoseOfTheRfc) {
  EXPECT_EQ(Accepted(scan::SkipToken),
            "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~");
}

TEST(FieldScan, FieldTextIsAllButControlCharacters) {
  const std::string text = Accepted(scan::SkipFieldText);
  EXPECT_EQ(text.size(), 256 - 33 + 1u);
  EXPECT_NE(text.find('\t'), std::string::npos);
  EXPECT_NE(text.find('\xff'), std::string::npos);
  for (const char c : std::string("\0\r\n\x0b\x7f", 5)) {
    EXPECT_EQ(text.find(c), std::string::npos) << static_cast<int>(c);
  }
}

TEST(FieldScan, TargetTextIsVisibleAscii) {
  const std::string text = Accepted(scan::SkipTargetText);
  EXPECT_EQ(text.size(), 94u);
  EXPECT_EQ(text.front(), '!');
  EXPECT_EQ(text.back(), '~');
}

}  // namespace
}  // namespace TURTLE_SERVER
