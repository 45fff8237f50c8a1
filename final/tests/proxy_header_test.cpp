// The header of the PROXY protocol: both versions, in pieces, and in all the ways to get it wrong.
#include "core/proxy_header.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER {

// For the messages of tests.
static auto operator<<(std::ostream& out, ProxyHeader::State state) -> std::ostream& {
  constexpr std::array<const char*, 3> kNames{"kMore", "kDone", "kBad"};
  return out << kNames[static_cast<std::size_t>(state)];
}

namespace {

using State = ProxyHeader::State;
using namespace std::string_literals;

constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";

// The bytes of version 2.
const auto kSignature = "\r\n\r\n\0\r\nQUIT\n"s;
constexpr char kLocal = 0x20;
constexpr char kProxy = 0x21;
constexpr char kTcp4 = 0x11;
constexpr char kTcp6 = 0x21;
const auto kInet = "\xc0\x00\x02\x07\xc6\x33\x64\x01\xdc\x04\x00\x50"s;
const auto kInet6 =
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07"
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\xdc\x04\x01\xbb"s;
const std::string kUnix(216, 'u');
const auto kOptions =  // PP2_TYPE_ALPN and PP2_TYPE_NOOP
    "\x01\x00\x08http/1.1\x04\x00\x02\0\0"s;

auto Fixed(char command, char protocol, std::size_t length) -> std::string {
  return kSignature + command + protocol + static_cast<char>(length / 256) +
         static_cast<char>(length % 256);
}

auto Binary(char command, char protocol, const std::string& rest) -> std::string {
  return Fixed(command, protocol, rest.size()) + rest;
}

// Parses a copy whose end a sanitizer guards.
auto Parse(std::string_view input) -> ProxyHeader {
  const auto copy = std::make_unique<char[]>(input.size());
  std::copy(input.begin(), input.end(), copy.get());
  return ParseProxyHeader({copy.get(), input.size()});
}

// A header that is right.
struct Right {
  std::string header;
  std::string source;  // NetAddress::ToString()
};

const char* const kNobody = "(no address)";

// Returns a header in which everything is as long as it can be; it has kMaxProxyLine bytes.
auto LongestLine() -> std::string {
  return "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
         "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n";
}

auto RightLines() -> std::vector<Right> {
  return {
      {"PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n", "192.0.2.7:56324"},
      {"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255:65535"},
      {"PROXY TCP4 192.0.2.7 198.51.100.1 0 0\r\n", "192.0.2.7:0"},
      {"PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n", "[2001:db8::7]:56324"},
      {"PROXY TCP6 2001:DB8:0:0:0:0:0:7 :: 1 2\r\n", "[2001:db8::7]:1"},
      {"PROXY TCP6 ::ffff:192.0.2.7 ::1 56324 443\r\n", "[::ffff:192.0.2.7]:56324"},
      {"PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
       "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"},
      {"PROXY UNKNOWN\r\n", kNobody},
      {"PROXY UNKNOWN \r\n", kNobody},
      {"PROXY UNKNOWN 192.0.2.7 198.51.100.1 56324 443\r\n", kNobody},
      {"PROXY UNKNOWN any \r text \n at\0all\r\n"s, kNobody},
      {LongestLine(), kNobody},
  };
}

auto RightBinaries() -> std::vector<Right> {
  const std::size_t most = kMaxProxyHeader - 16;
  return {
      {Binary(kProxy, kTcp4, kInet), "192.0.2.7:56324"},
      {Binary(kProxy, 0x12, kInet), "192.0.2.7:56324"},
      {Binary(kProxy, kTcp6, kInet6), "[2001:db8::7]:56324"},
      {Binary(kProxy, 0x22, kInet6), "[2001:db8::7]:56324"},
      {Binary(kProxy, kTcp4, kInet + kOptions), "192.0.2.7:56324"},
      {Binary(kProxy, kTcp6, kInet6 + kOptions), "[2001:db8::7]:56324"},
      {Binary(kProxy, kTcp4, kInet + std::string(most - kInet.size(), 'o')), "192.0.2.7:56324"},
      {Binary(kProxy, 0x31, kUnix), kNobody},
      {Binary(kProxy, 0x32, kUnix + kOptions), kNobody},
      {Binary(kProxy, 0x00, ""), kNobody},
      {Binary(kProxy, 0x00, kInet + kOptions), kNobody},
      {Binary(kLocal, 0x00, ""), kNobody},
      {Binary(kLocal, 0x00, kOptions), kNobody},
      {Binary(kLocal, kTcp4, kInet), kNobody},
      {Binary(kLocal, kTcp4, ""), kNobody},  // the description of a LOCAL one is ignored
      {Binary(kLocal, '\x7f', "abc"), kNobody},
  };
}

auto RightOnes() -> std::vector<Right> {
  std::vector<Right> all = RightLines();
  for (Right& each : RightBinaries()) {
    all.push_back(std::move(each));
  }
  return all;
}

// Expects that `right` is complete at the beginning of `input`.
void ExpectDone(const Right& right, std::string_view input) {
  const ProxyHeader header = Parse(input);
  EXPECT_EQ(header.state, State::kDone) << testing::PrintToString(right.header);
  EXPECT_EQ(header.bytes, right.header.size()) << testing::PrintToString(right.header);
  EXPECT_EQ(header.source.ToString(), right.source) << testing::PrintToString(right.header);
}

TEST(ProxyHeaderTest, TheSourceIsTheClient) {
  for (const Right& each : RightOnes()) {
    ExpectDone(each, each.header);
  }
}

TEST(ProxyHeaderTest, WhatFollowsIsNotTouched) {
  for (const Right& each : RightOnes()) {
    ExpectDone(each, each.header + std::string(kRequest));
    ExpectDone(each, each.header + "\r\n");
    ExpectDone(each, each.header + each.header);
  }
}

// A stream arrives in pieces, so each beginning is input once.
TEST(ProxyHeaderTest, EveryBeginningOfAHeaderMayGrow) {
  for (const Right& each : RightOnes()) {
    for (std::size_t bytes = 0; bytes < each.header.size(); ++bytes) {
      const ProxyHeader header = Parse(std::string_view(each.header).substr(0, bytes));
      ASSERT_EQ(header.state, State::kMore)
          << bytes << " bytes of " << testing::PrintToString(each.header);
      ASSERT_EQ(header.source.Family(), AF_UNSPEC);
    }
  }
}

TEST(ProxyHeaderTest, TheLongestLineHas107Bytes) {
  EXPECT_EQ(LongestLine().size(), 107U);
  EXPECT_EQ(kMaxProxyLine, 107U);
  std::string line = LongestLine().substr(0, 105);
  EXPECT_EQ(Parse(line + "\r").state, State::kMore);
  EXPECT_EQ(Parse(line + "\r\n").state, State::kDone);
  EXPECT_EQ(Parse(line + "5\r").state, State::kBad) << "its end would be byte 108";
  EXPECT_EQ(Parse(line + "5\r\n").state, State::kBad);
}

TEST(ProxyHeaderTest, ALineWithoutAnEndIsRefusedAtItsLimit) {
  const std::string endless = "PROXY UNKNOWN " + std::string(200, 'x');
  EXPECT_EQ(Parse(endless.substr(0, kMaxProxyLine - 1)).state, State::kMore);
  EXPECT_EQ(Parse(endless.substr(0, kMaxProxyLine)).state, State::kBad);
  EXPECT_EQ(Parse(endless.substr(0, kMaxProxyLine + 1)).state, State::kBad);
  EXPECT_EQ(Parse(endless + "\r\n").state, State::kBad);
}

// Each is wrong at its line end, and only there: until then it might be any line.
TEST(ProxyHeaderTest, AWrongLineIsRefusedAtItsEnd) {
  const std::vector<std::string> lines{
      "PROXY ",
      "PROXY TCP4",
      "PROXY TCP5 192.0.2.7 198.51.100.1 1 2",
      "PROXY TCP 192.0.2.7 198.51.100.1 1 2",
      "PROXY TCP44 192.0.2.7 198.51.100.1 1 2",
      "PROXY UDP4 192.0.2.7 198.51.100.1 1 2",
      "PROXY tcp4 192.0.2.7 198.51.100.1 1 2",
      "PROXY Tcp6 2001:db8::7 2001:db8::1 1 2",
      "PROXY unknown",
      "PROXY UNKNOWNS",
      "PROXY UNKNOWN\nGET / HTTP/1.1",
      "PROXY UNKNOWN\t192.0.2.7",
      "PROXY  UNKNOWN",
      "PROXY \tUNKNOWN",
      // Spaces: one between two words, and no other.
      "PROXY  TCP4 192.0.2.7 198.51.100.1 1 2",
      "PROXY TCP4  192.0.2.7 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7  198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1  1 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1  2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1 2 ",
      "PROXY TCP4\t192.0.2.7 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7\t198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1\t1 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1\t2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1 2\t",
      // Too few words, and too many.
      "PROXY TCP4 192.0.2.7",
      "PROXY TCP4 192.0.2.7 198.51.100.1",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1 ",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1 2 3",
      // Ports.
      "PROXY TCP4 192.0.2.7 198.51.100.1 65536 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1 65536",
      "PROXY TCP4 192.0.2.7 198.51.100.1 99999999999999999999 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 01 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1 02",
      "PROXY TCP4 192.0.2.7 198.51.100.1 00 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 -1 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 +1 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1x 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 0x1 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 http 2",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1 https",
      "PROXY TCP4 192.0.2.7 198.51.100.1 1 2\0"s,
      // Addresses.
      "PROXY TCP4 2001:db8::7 2001:db8::1 1 2",
      "PROXY TCP4 ::ffff:192.0.2.7 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7 2001:db8::1 1 2",
      "PROXY TCP6 192.0.2.7 198.51.100.1 1 2",
      "PROXY TCP6 2001:db8::7 198.51.100.1 1 2",
      "PROXY TCP4 localhost 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7 example.org 1 2",
      "PROXY TCP4 192.0.2.007 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.256 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7.1 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7. 198.51.100.1 1 2",
      "PROXY TCP4 3221225991 198.51.100.1 1 2",
      "PROXY TCP4 0xc0.0.2.7 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7/32 198.51.100.1 1 2",
      "PROXY TCP4 192.0.2.7\0 198.51.100.1 1 2"s,
      "PROXY TCP4 192.0.2.7\0.8 198.51.100.1 1 2"s,
      "PROXY TCP4 192.0.2.7 198.51.100.1\0 1 2"s,
      "PROXY TCP6 [2001:db8::7] 2001:db8::1 1 2",
      "PROXY TCP6 fe80::1%lo 2001:db8::1 1 2",
      "PROXY TCP6 2001:db8:::7 2001:db8::1 1 2",
      "PROXY TCP6 2001::db8::7 2001:db8::1 1 2",
      "PROXY TCP6 20010:db8::7 2001:db8::1 1 2",
      "PROXY TCP6 1:2:3:4:5:6:7:8:9 2001:db8::1 1 2",
      "PROXY TCP6 0000:0000:0000:0000:0000:0000:0000:0000:0000:0000 ::1 1 2",
  };
  for (const std::string& line : lines) {
    EXPECT_EQ(Parse(line + "\r").state, State::kMore) << testing::PrintToString(line);
    EXPECT_EQ(Parse(line + "\r\n").state, State::kBad) << testing::PrintToString(line);
  }
}

TEST(ProxyHeaderTest, ALineEndIsCrLf) {
  const std::string line = "PROXY TCP4 192.0.2.7 198.51.100.1 1 2";
  EXPECT_EQ(Parse(line + "\n").state, State::kMore);
  EXPECT_EQ(Parse(line + "\r").state, State::kMore);
  EXPECT_EQ(Parse(line + "\n" + std::string(kRequest)).state, State::kBad);
  EXPECT_EQ(Parse(line + "\r" + std::string(kRequest)).state, State::kBad);
  EXPECT_EQ(Parse(line + "\n\r\n").state, State::kBad);
  EXPECT_EQ(Parse(line + "\r\r\n").state, State::kBad);
}

// Bytes that a header begins with are neither wrong nor enough; the next one is wrong.
TEST(ProxyHeaderTest, WhatIsNoHeaderIsRefusedWithItsFirstWrongByte) {
  struct Wrong {
    std::string input;
    std::size_t right;  // how many of its bytes begin a header
  };
  const std::vector<Wrong> wrong{
      {"GET / HTTP/1.1\r\n", 0},
      {" PROXY UNKNOWN\r\n", 0},
      {"proxy UNKNOWN\r\n", 0},
      {"\n", 0},
      {"\0"s, 0},
      {"PRI * HTTP/2.0\r\n", 2},
      {"PUT / HTTP/1.1\r\n", 1},
      {"Proxy UNKNOWN\r\n", 1},
      {"PROXY\tUNKNOWN\r\n", 5},
      {"PROXY\r\n", 5},
      {"PROXYUNKNOWN\r\n", 5},
      {"\r\nPROXY UNKNOWN\r\n", 2},
      {"\r\nGET / HTTP/1.1\r\n", 2},
      {"\r\n\r\nGET", 4},
      {"\r\n\r\n\0\r\nQUIT\r\n"s, 11},
      {"\x16\x03\x01\x02\x00"s, 0},
  };
  for (const auto& [input, right] : wrong) {
    for (std::size_t bytes = 0; bytes <= input.size(); ++bytes) {
      EXPECT_EQ(Parse(std::string_view(input).substr(0, bytes)).state,
                bytes <= right ? State::kMore : State::kBad)
          << bytes << " bytes of " << testing::PrintToString(input);
    }
  }
}

TEST(ProxyHeaderTest, EachByteOfTheSignatureCounts) {
  for (std::size_t at = 0; at < kSignature.size(); ++at) {
    std::string input = Binary(kProxy, kTcp4, kInet);
    input[at] = static_cast<char>(input[at] ^ 0x20);
    EXPECT_EQ(Parse(input).state, State::kBad) << at;
    EXPECT_EQ(Parse(std::string_view(input).substr(0, at + 1)).state, State::kBad) << at;
    EXPECT_EQ(Parse(std::string_view(input).substr(0, at)).state, State::kMore) << at;
  }
}

// There are two commands of version 2. Every other byte is another version, or another command.
TEST(ProxyHeaderTest, AnotherVersionOrCommandIsRefusedAtOnce) {
  for (int command = 0; command < 256; ++command) {
    const std::string input = kSignature + static_cast<char>(command);
    const bool known = command == kLocal || command == kProxy;
    EXPECT_EQ(Parse(input).state, known ? State::kMore : State::kBad) << command;
  }
}

TEST(ProxyHeaderTest, AnotherFamilyOrTransportIsRefusedAtOnce) {
  for (int protocol = 0; protocol < 256; ++protocol) {
    const std::string input = kSignature + kProxy + static_cast<char>(protocol);
    const bool known = protocol / 16 <= 3 && protocol % 16 <= 2;
    EXPECT_EQ(Parse(input).state, known ? State::kMore : State::kBad) << protocol;
    EXPECT_EQ(Parse(Fixed(kLocal, static_cast<char>(protocol), 0)).state, State::kDone) << protocol;
  }
}

TEST(ProxyHeaderTest, ALengthWithoutRoomForTheAddressesIsRefusedAtOnce) {
  struct Family {
    char protocol;
    std::size_t least;
  };
  for (const auto& [protocol, least] :
       {Family{kTcp4, 12}, {0x12, 12}, {kTcp6, 36}, {0x22, 36}, {0x31, 216}, {0x32, 216}}) {
    EXPECT_EQ(Parse(Fixed(kProxy, protocol, 0)).state, State::kBad);
    EXPECT_EQ(Parse(Fixed(kProxy, protocol, least - 1)).state, State::kBad);
    EXPECT_EQ(Parse(Fixed(kProxy, protocol, least)).state, State::kMore);
    EXPECT_EQ(Parse(Fixed(kProxy, protocol, least - 1).substr(0, 15)).state, State::kMore);
  }
}

TEST(ProxyHeaderTest, ALengthBeyondTheLimitIsRefusedAtOnce) {
  for (const char command : {kLocal, kProxy}) {
    EXPECT_EQ(Parse(Fixed(command, kTcp4, kMaxProxyHeader - 16)).state, State::kMore);
    EXPECT_EQ(Parse(Fixed(command, kTcp4, kMaxProxyHeader - 15)).state, State::kBad);
    EXPECT_EQ(Parse(Fixed(command, kTcp4, 65535)).state, State::kBad);
  }
}

// The promises of every result, for any input.
void ExpectInvariants(const std::string& input) {
  const ProxyHeader header = Parse(input);
  if (header.state == State::kDone) {
    ASSERT_LE(header.bytes, input.size());
    ASSERT_LE(header.bytes, kMaxProxyHeader);
    ASSERT_GE(header.bytes, std::string_view("PROXY UNKNOWN\r\n").size());
    ASSERT_EQ(Parse(std::string_view(input).substr(0, header.bytes)).state, State::kDone);
    ASSERT_EQ(Parse(std::string_view(input).substr(0, header.bytes - 1)).state, State::kMore);
  } else {
    ASSERT_EQ(header.bytes, 0U);
    ASSERT_EQ(header.source.Family(), AF_UNSPEC);
    ASSERT_TRUE(header.state == State::kBad || input.size() < kMaxProxyHeader);
  }
  if (header.state == State::kBad) {
    ASSERT_EQ(Parse(input + "x").state, State::kBad) << "more bytes don't make it right";
  }
}

TEST(ProxyHeaderTest, RandomBytesKeepTheInvariants) {
  std::mt19937 random(29);
  const std::array<std::string, 4> starts{"", "PROXY ", "PROXY TCP4 ", kSignature + kProxy};
  for (int i = 0; i < 20'000; ++i) {
    std::string input = starts[random() % starts.size()];
    for (std::size_t count = random() % 130; count != 0; --count) {
      input += static_cast<char>(random() % 256);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectInvariants(input)) << testing::PrintToString(input);
  }
}

// Changes, drops, doubles or inserts a byte, up to three times.
auto Mutated(std::string input, std::mt19937& random) -> std::string {
  for (auto count = random() % 4; count != 0; --count) {
    const std::size_t at = random() % input.size();
    switch (random() % 4) {
      case 0:
        input[at] = static_cast<char>(random() % 256);
        break;
      case 1:
        input.erase(at, 1 + random() % 3);
        break;
      case 2:
        input.insert(at, 1, input[at]);
        break;
      default:
        input.insert(at, 1, " \r\n\t0:.\0"[random() % 8]);
    }
    if (input.empty()) {
      return input;
    }
  }
  return input;
}

TEST(ProxyHeaderTest, NearlyRightHeadersKeepTheInvariants) {
  std::mt19937 random(107);
  const std::vector<Right> right = RightOnes();
  std::array<int, 3> states{};
  for (int i = 0; i < 50'000; ++i) {
    const std::string input = Mutated(right[random() % right.size()].header, random);
    ASSERT_NO_FATAL_FAILURE(ExpectInvariants(input)) << testing::PrintToString(input);
    ++states[static_cast<std::size_t>(Parse(input).state)];
  }
  // The mutations deserve their name only if they reach every state.
  EXPECT_GT(*std::min_element(states.begin(), states.end()), 1000);
}

}  // namespace
}  // namespace TURTLE_SERVER
