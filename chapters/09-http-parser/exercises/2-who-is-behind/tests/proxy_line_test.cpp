#include "http/proxy_line.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

// Parses `input` in a block of memory that ends with it.
auto Parse(std::string_view input) -> ProxyLine {
  const auto block = std::make_unique<char[]>(input.size());
  std::memcpy(block.get(), input.data(), input.size());
  return ParseProxyLine({block.get(), input.size()});
}

auto ClientOf(const std::string& line) -> std::string {
  const ProxyLine parsed = Parse(line + "\r\n");
  EXPECT_EQ(parsed.state, ProxyLineState::kDone) << line;
  EXPECT_EQ(parsed.size, line.size() + 2) << line;
  return parsed.client ? parsed.client->ToString() : "nobody";
}

TEST(ProxyLine, SaysWhoIsBehind) {
  EXPECT_EQ(ClientOf("PROXY TCP4 192.0.2.1 192.0.2.7 51234 443"), "192.0.2.1:51234");
  EXPECT_EQ(ClientOf("PROXY TCP4 255.255.255.255 0.0.0.0 65535 0"), "255.255.255.255:65535");
  EXPECT_EQ(ClientOf("PROXY TCP6 2001:db8::1 2001:db8::7 1 65535"), "[2001:db8::1]:1");
  EXPECT_EQ(ClientOf("PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2"), "[::ffff:192.0.2.1]:1");
}

TEST(ProxyLine, MaySayNothing) {
  EXPECT_EQ(ClientOf("PROXY UNKNOWN"), "nobody");
  EXPECT_EQ(ClientOf("PROXY UNKNOWN 192.0.2.1 192.0.2.7 51234 443"), "nobody");
  EXPECT_EQ(ClientOf("PROXY UNKNOWN what ever \x01 it \xff is"), "nobody");
}

TEST(ProxyLine, WhatFollowsIsNotItsAffair) {
  const ProxyLine parsed = Parse("PROXY TCP4 1.2.3.4 5.6.7.8 9 10\r\nGET / HTTP/1.1\r\n");
  ASSERT_EQ(parsed.state, ProxyLineState::kDone);
  EXPECT_EQ(parsed.size, 33U);
  EXPECT_EQ(parsed.client->ToString(), "1.2.3.4:9");
}

TEST(ProxyLine, UntilItsLastByteThereIsNone) {
  for (const std::string line : {"PROXY TCP4 1.2.3.4 5.6.7.8 9 10\r\n", "PROXY UNKNOWN\r\n",
                                 "PROXY TCP6 ::1 ::2 65535 65535\r\n"}) {
    for (std::size_t size = 0; size < line.size(); ++size) {
      EXPECT_EQ(Parse(line.substr(0, size)).state, ProxyLineState::kNeedMore)
          << line.substr(0, size);
    }
    EXPECT_EQ(Parse(line).state, ProxyLineState::kDone);
  }
}

TEST(ProxyLine, NoLineIsSeenAtItsFirstWrongByte) {
  for (const std::string input : {"G", "GET / HTTP/1.1\r\n", "proxy", "PROXX", "PROXY\r", "PROXY  ",
                                  "PROXY\t", "PROXY TCP5", "PROXY X", "PROXY UNKNOW "}) {
    EXPECT_EQ(Parse(input).state, ProxyLineState::kBad) << input;
  }
}

TEST(ProxyLine, ALineIsWrittenInOneWay) {
  for (const std::string line : {
           "PROXY TCP4",
           "PROXY TCP4 1.2.3.4 5.6.7.8 9",
           "PROXY TCP4 1.2.3.4 5.6.7.8 9 10 11",
           "PROXY TCP4 1.2.3.4 5.6.7.8 9 10 ",
           "PROXY TCP4  1.2.3.4 5.6.7.8 9 10",
           "PROXY TCP4 1.2.3.4\t5.6.7.8 9 10",
           "PROXY TCP4 1.2.3.4 5.6.7.8 09 10",
           "PROXY TCP4 1.2.3.4 5.6.7.8 9 65536",
           "PROXY TCP4 1.2.3.4 5.6.7.8 70000 10",
           "PROXY TCP4 1.2.3.4 5.6.7.8 99999999999999999999 10",
           "PROXY TCP4 1.2.3.4 5.6.7.8 +9 10",
           "PROXY TCP4 1.2.3.4 5.6.7.8 -9 10",
           "PROXY TCP4 1.2.3.4 5.6.7.8 0x9 10",
           "PROXY TCP4 1.2.3.4 5.6.7.8 9 ",
           "PROXY TCP4 1.2.3 5.6.7.8 9 10",
           "PROXY TCP4 1.2.3.256 5.6.7.8 9 10",
           "PROXY TCP4 01.2.3.4 5.6.7.8 9 10",
           "PROXY TCP4 1.2.3.4 5.6.7 9 10",
           "PROXY TCP4 localhost 5.6.7.8 9 10",
           "PROXY TCP4 ::1 ::2 9 10",
           "PROXY TCP6 1.2.3.4 5.6.7.8 9 10",
           "PROXY TCP6 ::1 5.6.7.8 9 10",
           "PROXY TCP6 fe80::1%lo ::2 9 10",
           "PROXY TCP6 [::1] ::2 9 10",
           "PROXY TCP6 ::1::2 ::2 9 10",
           "PROXY UNKNOWNS",
       }) {
    EXPECT_EQ(Parse(line + "\r\n").state, ProxyLineState::kBad) << line;
  }
  const std::string with_nul("PROXY TCP4 1.2.3.4\0 5.6.7.8 9 10\r\n", 34);
  EXPECT_EQ(Parse(with_nul).state, ProxyLineState::kBad);
}

TEST(ProxyLine, ItEndsWithCrLfAndWithNothingElse) {
  EXPECT_EQ(Parse("PROXY TCP4 1.2.3.4 5.6.7.8 9 10\n").state, ProxyLineState::kBad);
  EXPECT_EQ(Parse("PROXY TCP4 1.2.3.4 5.6.7.8 9 10\rG").state, ProxyLineState::kBad);
  EXPECT_EQ(Parse("PROXY UNKNOWN x\ny\r\n").state, ProxyLineState::kBad);
  EXPECT_EQ(Parse("PROXY UNKNOWN x\ry\r\n").state, ProxyLineState::kBad);
}

TEST(ProxyLine, IsNeverLongerThan107Bytes) {
  const std::string beginning = "PROXY UNKNOWN ";
  const std::string longest = beginning + std::string(105 - beginning.size(), 'x') + "\r\n";
  EXPECT_EQ(Parse(longest).state, ProxyLineState::kDone);
  EXPECT_EQ(Parse(longest.substr(0, 106)).state, ProxyLineState::kNeedMore);
  const std::string longer = beginning + std::string(106 - beginning.size(), 'x') + "\r\n";
  EXPECT_EQ(Parse(longer).state, ProxyLineState::kBad);
  EXPECT_EQ(Parse(longer.substr(0, 107)).state, ProxyLineState::kBad) << "no CR LF in 107 bytes";
  EXPECT_EQ(Parse(beginning + std::string(100'000, 'x')).state, ProxyLineState::kBad);
}

}  // namespace
}  // namespace TURTLE_SERVER
