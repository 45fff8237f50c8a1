// Networks are parsed exactly, and an address is in the set exactly if it is in one of them.
#include "core/cidr_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/net_address.h"

namespace TURTLE_SERVER {
namespace {

auto Has(const CidrSet& set, const std::string& ip) -> bool {
  return set.Contains(NetAddress(ip, 80));
}

TEST(CidrSet, IsEmptyAtFirst) {
  const CidrSet set;
  EXPECT_TRUE(set.Empty());
  EXPECT_FALSE(Has(set, "0.0.0.0"));
  EXPECT_FALSE(Has(set, "::"));
  EXPECT_FALSE(set.Contains(NetAddress()));
}

TEST(CidrSet, HasTheFirstAndTheLastOfANetworkAndNotTheirNeighbours) {
  struct Case {
    const char* network;
    const char* inside[2];
    const char* outside[2];
  };
  const Case cases[] = {
      {"192.0.2.7", {"192.0.2.7", "192.0.2.7"}, {"192.0.2.6", "192.0.2.8"}},
      {"192.0.2.7/32", {"192.0.2.7", "192.0.2.7"}, {"192.0.2.6", "192.0.2.8"}},
      {"10.0.0.0/8", {"10.0.0.0", "10.255.255.255"}, {"9.255.255.255", "11.0.0.0"}},
      {"172.16.0.0/12", {"172.16.0.0", "172.31.255.255"}, {"172.15.255.255", "172.32.0.0"}},
      {"192.0.2.128/25", {"192.0.2.128", "192.0.2.255"}, {"192.0.2.127", "192.0.3.0"}},
      {"0.0.0.0/0", {"0.0.0.0", "255.255.255.255"}, {"::", "2001:db8::1"}},
      {"2001:db8::/32",
       {"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"},
       {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"}},
      {"::1", {"::1", "::1"}, {"::", "::2"}},
      {"fe80::/10", {"fe80::", "febf::1"}, {"fe7f::1", "fec0::"}},
      {"8000::/1", {"8000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}, {"7fff::1", "10.1.2.3"}},
  };
  for (const Case& one : cases) {
    const CidrSet set({one.network});
    for (const char* ip : one.inside) {
      EXPECT_TRUE(Has(set, ip)) << ip << " in " << one.network;
    }
    for (const char* ip : one.outside) {
      EXPECT_FALSE(Has(set, ip)) << ip << " not in " << one.network;
    }
  }
}

TEST(CidrSet, AnIpv4AddressIsTheSameInItsMappedForm) {
  EXPECT_TRUE(Has(CidrSet({"10.0.0.0/8"}), "::ffff:10.1.2.3"));
  EXPECT_TRUE(Has(CidrSet({"::ffff:10.0.0.0/104"}), "10.1.2.3"));
  EXPECT_TRUE(Has(CidrSet({"::/0"}), "10.1.2.3"));
}

TEST(CidrSet, IgnoresThePortAndTheScope) {
  const CidrSet set({"fe80::/10", "127.0.0.1"});
  EXPECT_TRUE(set.Contains(NetAddress("127.0.0.1", 1)));
  EXPECT_TRUE(set.Contains(NetAddress("127.0.0.1", 65535)));
  EXPECT_TRUE(set.Contains(NetAddress("fe80::1%lo", 80)));
}

TEST(CidrSet, RefusesWhatIsNoNetwork) {
  const std::string texts[] = {
      "",
      "/",
      "/8",
      "localhost",
      "10.0.0.0/",
      "10.0.0.0/33",
      "10.0.0.1/8",
      "10.0.0.0/8/",
      "10/8",
      "10.0.0.0/08",
      "10.0.0.0/+8",
      "10.0.0.0/ 8",
      " 10.0.0.0/8",
      "10.0.0.0/8 ",
      "10.0.0.0/-1",
      "300.0.0.0/8",
      "0x0a.0.0.0",
      "::/129",
      "::1/127",
      ":::/8",
      "fe80::%lo/10",
      "[::1]",
      "::1/",
      "10.0.0.0/99999999999999999999",
      std::string("10.0.0.1\0", 9),
      std::string("10.0.0.0/8\0", 11),
  };
  for (const std::string& text : texts) {
    EXPECT_FALSE(CidrSet::IsNetwork(text)) << text;
    EXPECT_THROW(CidrSet({text}), std::invalid_argument) << text;
  }
}

TEST(CidrSet, NeighboursBecomeOne) {
  EXPECT_EQ(CidrSet({"10.0.0.0/9", "10.128.0.0/9"}).Size(), 1U);
  EXPECT_EQ(CidrSet({"10.128.0.0/9", "10.0.0.0/9"}).Size(), 1U);
  EXPECT_EQ(CidrSet({"10.0.0.0/9", "10.128.0.1"}).Size(), 2U);
  EXPECT_EQ(CidrSet({"10.0.0.0/8", "10.1.0.0/16", "10.0.0.0/8"}).Size(), 1U);
  EXPECT_EQ(CidrSet({"10.0.0.1", "10.0.0.3", "10.0.0.5", "10.0.0.0/29"}).Size(), 1U);
  EXPECT_EQ(CidrSet({"10.0.0.1", "10.0.0.3", "10.0.0.2"}).Size(), 1U);
  EXPECT_EQ(CidrSet({"::/0", "10.0.0.0/8", "ffff::/16"}).Size(), 1U);
  EXPECT_EQ(CidrSet({"ffff::/16", "::/1", "8000::/1"}).Size(), 1U);
}

// Compares it with the simplest of all sets: one bit for each address of a small network.
TEST(CidrSet, IsTheUnionOfItsNetworks) {
  std::mt19937 random(15);  // the same in every run
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> networks;
    std::array<bool, 256> expected{};
    for (unsigned i = random() % 12; i > 0; --i) {
      const unsigned prefix = random() % 9;  // of the last byte
      const unsigned count = 256U >> prefix;
      const unsigned first = random() % 256 / count * count;
      networks.push_back("192.0.2." + std::to_string(first) + "/" + std::to_string(24 + prefix));
      std::fill_n(expected.begin() + first, count, true);
    }
    const CidrSet set(networks);
    for (unsigned last = 0; last < 256; ++last) {
      ASSERT_EQ(Has(set, "192.0.2." + std::to_string(last)), expected[last]) << last;
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
