#include "app/byte_size.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace TURTLE_SERVER {
namespace {

TEST(ByteSizeTest, ReadsNumbersAndUnits) {
  EXPECT_EQ(ParseByteSize("0"), 0U);
  EXPECT_EQ(ParseByteSize("512"), 512U);
  EXPECT_EQ(ParseByteSize("64K"), 65536U);
  EXPECT_EQ(ParseByteSize("64k"), 65536U);
  EXPECT_EQ(ParseByteSize("3M"), 3U << 20);
  EXPECT_EQ(ParseByteSize("1G"), 1U << 30);
  EXPECT_EQ(ParseByteSize("2t"), std::uint64_t{1} << 41);
  EXPECT_EQ(ParseByteSize("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

TEST(ByteSizeTest, RefusesEverythingElse) {
  for (const char* text : {"", "K", "-1", "+1", " 1", "1 ", "1 K", "1.5M", "0x10", "1KB", "1KM",
                           "1X", "18446744073709551616", "18014398509481984K", "16777216T"}) {
    EXPECT_EQ(ParseByteSize(text), std::nullopt) << text;
  }
  EXPECT_TRUE(ParseByteSize("18014398509481983K"));
  EXPECT_TRUE(ParseByteSize("16777215T"));
}

TEST(ByteSizeTest, WritesWhatItReads) {
  EXPECT_EQ(FormatByteSize(0), "0");
  EXPECT_EQ(FormatByteSize(1000), "1000");
  EXPECT_EQ(FormatByteSize(1025), "1025");
  EXPECT_EQ(FormatByteSize(65536), "64K");
  EXPECT_EQ(FormatByteSize(std::uint64_t{64} << 20), "64M");
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{1} << 30, std::uint64_t{3} << 40, std::uint64_t{1} << 63}) {
    EXPECT_EQ(ParseByteSize(FormatByteSize(bytes)), bytes);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
