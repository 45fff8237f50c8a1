#include "core/net_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace TURTLE_SERVER {
namespace {

TEST(NetAddress, IsEmptyAtFirstWithRoomForAnyAddress) {
  NetAddress none;
  EXPECT_EQ(none.Family(), AF_UNSPEC);
  EXPECT_EQ(none.Port(), 0);
  EXPECT_EQ(none.Ip(), "");
  EXPECT_EQ(none.ToString(), "(no address)");
  EXPECT_GE(*none.Length(), sizeof(sockaddr_in6));
}

TEST(NetAddress, UnderstandsIpv4) {
  const NetAddress address("192.0.2.7", 8080, Protocol::Ipv4);
  EXPECT_EQ(address.Family(), AF_INET);
  EXPECT_EQ(address.Port(), 8080);
  EXPECT_EQ(address.Ip(), "192.0.2.7");
  EXPECT_EQ(address.ToString(), "192.0.2.7:8080");
  EXPECT_EQ(address.Size(), sizeof(sockaddr_in));
}

TEST(NetAddress, UnderstandsIpv6) {
  const NetAddress address("2001:db8:0:0::0007", 443, Protocol::Ipv6);
  EXPECT_EQ(address.Family(), AF_INET6);
  EXPECT_EQ(address.Port(), 443);
  EXPECT_EQ(address.Ip(), "2001:db8::7");
  EXPECT_EQ(address.ToString(), "[2001:db8::7]:443");
  EXPECT_EQ(address.Size(), sizeof(sockaddr_in6));
  EXPECT_EQ(NetAddress("::ffff:192.0.2.7", 1).Family(), AF_INET6);
}

TEST(NetAddress, GivesTheKernelThePortWithTheHighByteFirst) {
  const NetAddress address("127.0.0.1", 0x1234);
  sockaddr_in seen{};
  std::memcpy(&seen, address.Data(), sizeof(seen));
  unsigned char bytes[2];
  std::memcpy(bytes, &seen.sin_port, 2);
  EXPECT_EQ(bytes[0], 0x12);
  EXPECT_EQ(bytes[1], 0x34);
}

TEST(NetAddress, KeepsTheScopeOfALinkLocalAddress) {
  char name[IF_NAMESIZE];
  if (::if_indextoname(1, name) == nullptr) {
    GTEST_SKIP() << "no network interface has the index 1";
  }
  const std::string text = std::string("fe80::1%") + name;
  const NetAddress address(text, 80);
  EXPECT_EQ(address.Ip(), text);
  EXPECT_EQ(address.ToString(), "[" + text + "]:80");
  EXPECT_NE(address, NetAddress("fe80::1", 80)) << "the same number on another link";
  EXPECT_THROW(NetAddress("fe80::1%no-such-link", 80), std::runtime_error);
}

TEST(NetAddress, ResolvesNames) {
  const NetAddress address("localhost", 8000, Protocol::Ipv4);
  EXPECT_EQ(address.ToString(), "127.0.0.1:8000");
  EXPECT_EQ(NetAddress("localhost", 8000).Port(), 8000);
}

TEST(NetAddress, TakesBothEndsOfThePortRange) {
  EXPECT_EQ(NetAddress("127.0.0.1", 0).Port(), 0);
  EXPECT_EQ(NetAddress("127.0.0.1", 65535).Port(), 65535);
}

TEST(NetAddress, RefusesOtherPortsAndNamesThem) {
  for (const int port : {-1, 65536, 85616, -2147483647}) {
    try {
      const NetAddress address("127.0.0.1", port);
      ADD_FAILURE() << port << " became " << address.Port();
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), "port " + std::to_string(port) + ": not in 0..65535");
    }
  }
}

// Each of these means something to inet_aton(3) and so to getaddrinfo(3), or looks as if it did.
class OddSpelling : public testing::TestWithParam<const char*> {};

TEST_P(OddSpelling, IsRefusedAndNamed) {
  const std::string host = GetParam();
  for (const Protocol protocol : {Protocol::Any, Protocol::Ipv4, Protocol::Ipv6}) {
    try {
      const NetAddress address(host, 80, protocol);
      ADD_FAILURE() << '"' << host << "\" became " << address.ToString();
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find('"' + host + '"'), std::string::npos)
          << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(NetAddress, OddSpelling,
                         testing::Values("", "0", "1", "127.1", "127.0.1", "2130706433",
                                         "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01",
                                         "256.0.0.1", "1.2.3.4.5", "127.0.0.1.", "127.0.0.0x1", ".",
                                         "1.2.3."));

TEST(NetAddress, DoesNotStopReadingAtANul) {
  EXPECT_THROW(NetAddress(std::string("127.0.0.1\0.example", 18), 80), std::invalid_argument);
}

TEST(NetAddress, RefusesWhatIsNoAddressAndNamesIt) {
  // The third is a name with a label that is too long, so that no DNS server is queried.
  for (const std::string& host : {std::string("::1::2"), std::string("[::1]"),
                                  std::string(64, 'a') + ".invalid", std::string("127.0.0.1:80")}) {
    try {
      const NetAddress address(host, 80);
      ADD_FAILURE() << host << " became " << address.ToString();
    } catch (const std::exception& error) {
      EXPECT_NE(std::string(error.what()).find(host), std::string::npos) << error.what();
    }
  }
}

TEST(NetAddress, RefusesTheOtherProtocol) {
  EXPECT_THROW(NetAddress("127.0.0.1", 80, Protocol::Ipv6), std::runtime_error);
  EXPECT_THROW(NetAddress("::1", 80, Protocol::Ipv4), std::runtime_error);
}

TEST(NetAddress, ComparesPlacesAndNotBytes) {
  const NetAddress address("127.0.0.1", 80);
  EXPECT_EQ(address, NetAddress("127.0.0.1", 80));
  EXPECT_NE(address, NetAddress("127.0.0.1", 81));
  EXPECT_NE(address, NetAddress("127.0.0.2", 80));
  EXPECT_NE(address, NetAddress("::1", 80));
  EXPECT_EQ(NetAddress("::1", 80), NetAddress("::1", 80));
  EXPECT_NE(NetAddress("::1", 80), NetAddress("::2", 80));
  EXPECT_NE(address, NetAddress());
  EXPECT_EQ(NetAddress(), NetAddress());
  NetAddress padded("127.0.0.1", 80);
  reinterpret_cast<sockaddr_in*>(padded.Data())->sin_zero[0] = 1;
  EXPECT_EQ(address, padded);
}

}  // namespace
}  // namespace TURTLE_SERVER
