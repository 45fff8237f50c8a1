// IP addresses in text: numbers only, of any bytes.
#include "core/ip_text.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

using namespace std::string_view_literals;

auto TextOf(const std::optional<NetAddress>& address) -> std::string {
  return address ? address->ToString() : "none";
}

TEST(IpTextTest, NumbersAreRead) {
  EXPECT_EQ(TextOf(ParseIp(AF_INET, "192.0.2.7", 80)), "192.0.2.7:80");
  EXPECT_EQ(TextOf(ParseIp(AF_INET6, "2001:db8::7", 0)), "[2001:db8::7]:0");
  EXPECT_EQ(TextOf(ParseIp(AF_INET6, "::ffff:192.0.2.7", 65535)), "[::ffff:192.0.2.7]:65535");
}

TEST(IpTextTest, OtherTextsAreNot) {
  for (const std::string_view text :
       {""sv, "localhost"sv, "127.1"sv, "0x7f.0.0.1"sv, "192.0.2.7 "sv, "192.0.2.256"sv, "::1"sv,
        "192.0.2.7\0"sv, "192.0.2.7.192.0.2.7.192.0.2.7.192.0.2.7.192.0.2.7.192.0.2.7"sv}) {
    EXPECT_EQ(TextOf(ParseIp(AF_INET, text, 0)), "none") << text;
  }
  for (const std::string_view text :
       {""sv, "192.0.2.7"sv, "[::1]"sv, "fe80::1%lo"sv, "::1::"sv, ":::"sv, "12345::"sv, "::1\0"sv,
        "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0001"sv}) {
    EXPECT_EQ(TextOf(ParseIp(AF_INET6, text, 0)), "none") << text;
  }
}

TEST(IpTextTest, BytesBecomeAddresses) {
  const std::array<unsigned char, 4> v4{192, 0, 2, 7};
  EXPECT_EQ(Ipv4Address(v4.data(), 80), NetAddress("192.0.2.7", 80));
  const std::array<unsigned char, 16> v6{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
  EXPECT_EQ(Ipv6Address(v6.data(), 80), NetAddress("2001:db8::7", 80));
}

TEST(IpTextTest, APortHasOneSpelling) {
  EXPECT_EQ(ParsePort("0"), 0);
  EXPECT_EQ(ParsePort("65535"), 65535);
  for (const std::string_view text : {"", "00", "080", "65536", "-1", "+1", " 1", "1 ", "x"}) {
    EXPECT_FALSE(ParsePort(text)) << text;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
