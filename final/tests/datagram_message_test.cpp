// Control messages that no test can make the network deliver: loopback has no link-local address.
#define __APPLE_USE_RFC_3542  // NOLINT: macOS hides IPV6_PKTINFO unless it is asked for
#include "udp/datagram_message.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

namespace TURTLE_SERVER {
namespace {

constexpr unsigned kInterface = 3;
constexpr in_port_t kPort = 4660;

auto Parsed(const std::string& address) -> in6_addr {
  in6_addr parsed{};
  EXPECT_EQ(::inet_pton(AF_INET6, address.c_str(), &parsed), 1);
  return parsed;
}

// Returns the local address of a datagram to `destination` that came by kInterface.
auto LocalOf(const std::string& destination) -> sockaddr_in6 {
  DatagramBatch batch(1, 16);
  msghdr header;
  DatagramParts parts;
  PrepareReceive(header, parts, batch, 0);
  const in6_pktinfo info{Parsed(destination), kInterface};
  cmsghdr* control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = IPPROTO_IPV6;
  control->cmsg_type = IPV6_PKTINFO;
  control->cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(control), &info, sizeof info);
  header.msg_controllen = CMSG_SPACE(sizeof info);
  header.msg_namelen = 0;
  FinishReceive(header, 5, batch, 0, htons(kPort));
  batch.SetSize(1);
  sockaddr_in6 local{};
  std::memcpy(&local, batch[0].local.Data(), sizeof local);
  EXPECT_EQ(batch[0].local.Port(), kPort);
  return local;
}

// Returns the control message that makes a datagram leave from `source`.
auto SourceOf(const sockaddr_in6& source) -> in6_pktinfo {
  NetAddress local;
  std::memcpy(local.Data(), &source, sizeof source);
  *local.Length() = sizeof source;
  DatagramBatch batch(1, 16);
  EXPECT_TRUE(batch.Add("x", NetAddress("::1", 9), local));
  msghdr header;
  DatagramParts parts;
  PrepareSend(header, parts, batch, 0);
  in6_pktinfo info{};
  const cmsghdr* control = CMSG_FIRSTHDR(&header);
  if (control == nullptr || control->cmsg_type != IPV6_PKTINFO) {
    ADD_FAILURE() << "no source";
    return info;
  }
  std::memcpy(&info, CMSG_DATA(control), sizeof info);
  return info;
}

auto IsSame(const in6_addr& one, const in6_addr& other) -> bool {
  return std::memcmp(&one, &other, sizeof one) == 0;
}

TEST(DatagramMessage, ALinkLocalAddressKeepsItsInterface) {
  const sockaddr_in6 local = LocalOf("fe80::1");
  EXPECT_TRUE(IsSame(local.sin6_addr, Parsed("fe80::1")));
  EXPECT_EQ(local.sin6_scope_id, kInterface);
  const in6_pktinfo source = SourceOf(local);
  EXPECT_TRUE(IsSame(source.ipi6_addr, Parsed("fe80::1")));
  EXPECT_EQ(source.ipi6_ifindex, kInterface);
}

TEST(DatagramMessage, AnotherAddressMayLeaveByAnyInterface) {
  const sockaddr_in6 local = LocalOf("2001:db8::1");
  EXPECT_EQ(local.sin6_scope_id, 0U);
  const in6_pktinfo source = SourceOf(local);
  EXPECT_TRUE(IsSame(source.ipi6_addr, Parsed("2001:db8::1")));
  EXPECT_EQ(source.ipi6_ifindex, 0U);
}

// A group's address can't be a sender's.
TEST(DatagramMessage, WhoIsCalledByAGroupsAddressAnswersByItsOwn) {
  const in6_pktinfo source = SourceOf(LocalOf("ff02::1"));
  EXPECT_TRUE(IsSame(source.ipi6_addr, in6addr_any));
  EXPECT_EQ(source.ipi6_ifindex, kInterface);
}

}  // namespace
}  // namespace TURTLE_SERVER
