#include "web/forwarded.h"

#include <gtest/gtest.h>
#include <sys/un.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER {
namespace {

const CidrSet& Ours() {
  static const CidrSet ours({"10.0.0.0/8", "2001:db8::/32"});
  return ours;
}

// The client, as text, when `peer` has sent these fields of that name.
auto Client(const std::string& peer, const std::vector<std::string_view>& values,
            const CidrSet& ours = Ours()) -> std::string {
  Headers fields;
  fields.Add("Host", "example.org");
  for (const std::string_view value : values) {
    fields.Add("X-Forwarded-For", value);
  }
  fields.Add("X-Forwarded-Host", "10.9.9.9");
  return ClientBehind(NetAddress(peer, 4711), fields, ours).ToString();
}

TEST(ForwardedTest, WhoComesByItselfIsWhoItIs) {
  EXPECT_EQ(Client("192.0.2.1", {}), "192.0.2.1:4711");
  EXPECT_EQ(Client("10.0.0.1", {}), "10.0.0.1:4711");
  EXPECT_EQ(Client("192.0.2.1", {"192.0.2.99"}), "192.0.2.1:4711") << "anybody can say that";
  EXPECT_EQ(Client("10.0.0.1", {"192.0.2.99"}, CidrSet()), "10.0.0.1:4711");
}

TEST(ForwardedTest, OurProxyTellsTheTruth) {
  EXPECT_EQ(Client("10.0.0.1", {"192.0.2.7"}), "192.0.2.7:0");
  EXPECT_EQ(Client("2001:db8::1", {"192.0.2.7"}), "192.0.2.7:0");
  EXPECT_EQ(Client("::ffff:10.0.0.1", {"2001:db9::7"}), "[2001:db9::7]:0");
}

TEST(ForwardedTest, OnlyTheLastOfStrangersIsTrue) {
  EXPECT_EQ(Client("10.0.0.1", {"203.0.113.5, 192.0.2.7"}), "192.0.2.7:0");
  EXPECT_EQ(Client("10.0.0.1", {"10.0.0.2, 192.0.2.7"}), "192.0.2.7:0")
      << "he would like to be one of ours";
  EXPECT_EQ(Client("10.0.0.1", {"203.0.113.5, 192.0.2.7, 10.0.0.3, 2001:db8::2"}), "192.0.2.7:0");
}

TEST(ForwardedTest, WhoeverIsFirstWhenAllAreOurs) {
  EXPECT_EQ(Client("10.0.0.1", {"10.0.0.3,10.0.0.2"}), "10.0.0.3:0");
}

TEST(ForwardedTest, SeveralFieldsAreOne) {
  EXPECT_EQ(Client("10.0.0.1", {"203.0.113.5", "192.0.2.7", "10.0.0.3"}), "192.0.2.7:0");
  EXPECT_EQ(Client("10.0.0.1", {"203.0.113.5, 192.0.2.7", "", "10.0.0.3, 10.0.0.2"}),
            "192.0.2.7:0");
}

TEST(ForwardedTest, BlanksAndEmptyElements) {
  EXPECT_EQ(Client("10.0.0.1", {" ,, 192.0.2.7\t ,\t,10.0.0.2 ,, "}), "192.0.2.7:0");
  EXPECT_EQ(Client("10.0.0.1", {""}), "10.0.0.1:4711");
  EXPECT_EQ(Client("10.0.0.1", {" , ,"}), "10.0.0.1:4711");
}

TEST(ForwardedTest, Ports) {
  EXPECT_EQ(Client("10.0.0.1", {"192.0.2.7:80"}), "192.0.2.7:80");
  EXPECT_EQ(Client("10.0.0.1", {"192.0.2.7:65535"}), "192.0.2.7:65535");
  EXPECT_EQ(Client("10.0.0.1", {"[2001:db9::7]"}), "[2001:db9::7]:0");
  EXPECT_EQ(Client("10.0.0.1", {"[2001:db9::7]:443"}), "[2001:db9::7]:443");
  EXPECT_EQ(Client("10.0.0.1", {"192.0.2.7:9, [2001:db8::9]:9, 10.0.0.2:9"}), "192.0.2.7:9");
}

// A stranger may have written the entries before it: they are not looked at.
TEST(ForwardedTest, WhatIsNoAddressEndsTheWay) {
  for (const char* const bad : {"unknown",
                                "_hidden",
                                "localhost",
                                "example.org",
                                "192.0.2",
                                "192.0.2.256",
                                "192.0.2.7.8",
                                "192.0.2.7/32",
                                "0192.0.2.7",
                                "0x7f.1",
                                "192.0.2.7:",
                                "192.0.2.7:65536",
                                "192.0.2.7:8x",
                                "192.0.2.7:-1",
                                "192.0.2.7:+1",
                                "192.0.2.7 :80",
                                "192.0.2.7:00000080",
                                "2001:db9::7::1",
                                "[2001:db9::7",
                                "2001:db9::7]",
                                "[2001:db9::7]443",
                                "[2001:db9::7]:",
                                "[192.0.2.7]",
                                "[192.0.2.7]:80",
                                "[]",
                                "[",
                                "]",
                                ":",
                                "fe80::1%lo",
                                "[fe80::1%lo]",
                                "fe80::1%1",
                                "\"192.0.2.7\"",
                                "for=192.0.2.7",
                                "192.0.2.7 192.0.2.8",
                                "*",
                                "-"}) {
    EXPECT_EQ(Client("10.0.0.1", {bad}), "10.0.0.1:4711") << bad;
    EXPECT_EQ(Client("10.0.0.1", {std::string("203.0.113.5, ") + bad + ", 10.0.0.2"}), "10.0.0.2:0")
        << bad;
  }
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(Client("10.0.0.1", {"192.0.2.7\0"sv}), "10.0.0.1:4711");
  EXPECT_EQ(Client("10.0.0.1", {std::string(100'000, '1')}), "10.0.0.1:4711");
}

TEST(ForwardedTest, TheNameOfTheFieldHasNoCase) {
  Headers fields;
  fields.Add("x-FORWARDED-for", "192.0.2.7");
  EXPECT_EQ(ClientBehind(NetAddress("10.0.0.1", 1), fields, Ours()).Ip(), "192.0.2.7");
}

TEST(ForwardedTest, WhoCameByAPathIsAProxyOfOurs) {
  Headers fields;
  NetAddress path;
  path.Data()->sa_family = AF_UNIX;
  EXPECT_EQ(ClientBehind(path, fields, Ours()).Family(), AF_UNIX);
  fields.Add("X-Forwarded-For", "203.0.113.5, 192.0.2.7");
  EXPECT_EQ(ClientBehind(path, fields, Ours()).Ip(), "192.0.2.7");
  EXPECT_EQ(ClientBehind(path, fields, CidrSet()).Ip(), "192.0.2.7");
}

}  // namespace
}  // namespace TURTLE_SERVER
