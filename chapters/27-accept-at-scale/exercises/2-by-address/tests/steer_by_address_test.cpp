#include "core/steer_by_address.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "core/net_address.h"
#include "core/reuse_port.h"
#include "core/socket.h"
#include "support/needs_ipv6.h"

namespace TURTLE_SERVER {
namespace {

// A connection from the given address; all of 127.0.0.0/8 is this machine.
auto ConnectFrom(const std::string& own, const NetAddress& server) -> UniqueFd {
  const NetAddress from(own, 0);
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(fd.Get(), from.Data(), from.Size()), 0) << own;
  EXPECT_EQ(::connect(fd.Get(), server.Data(), server.Size()), 0) << own;
  return fd;
}

// Returns the clients that wait for each listener.
auto Waiting(std::vector<Socket>& listeners) -> std::vector<std::vector<std::string>> {
  std::vector<std::vector<std::string>> waiting;
  for (Socket& listener : listeners) {
    listener.SetNonBlocking();
    waiting.emplace_back();
    NetAddress client;
    while (UniqueFd(listener.Accept(client))) {
      waiting.back().push_back(client.Ip());
    }
  }
  return waiting;
}

TEST(SteerByAddressTest, TheAddressModuloTheNumberOfListeners) {
  std::vector<Socket> listeners = OpenListeners(NetAddress("127.0.0.1", 0), 3);
  ASSERT_EQ(SteerByAddress(listeners.back().GetFd(), 3), 0);
  const NetAddress server = listeners.front().LocalAddress();
  std::vector<UniqueFd> clients;
  std::vector<std::vector<std::string>> expected(3);
  for (const unsigned middle : {0U, 1U, 77U}) {
    for (unsigned last = 1; last <= 20; ++last) {
      const std::string own = "127.0." + std::to_string(middle) + "." + std::to_string(last);
      clients.push_back(ConnectFrom(own, server));
      expected[((127U << 24) + (middle << 8) + last) % 3].push_back(own);
    }
  }
  EXPECT_EQ(Waiting(listeners), expected);
}

TEST(SteerByAddressTest, WhoComesAgainComesToTheSame) {
  std::vector<Socket> listeners = OpenListeners(NetAddress("127.0.0.1", 0), 4);
  ASSERT_EQ(SteerByAddress(listeners.front().GetFd(), 4), 0);
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(ConnectFrom("127.0.0.6", listeners.front().LocalAddress()));
  }
  const auto waiting = Waiting(listeners);
  EXPECT_EQ(waiting[((127U << 24) + 6) % 4].size(), 50U);
}

TEST(SteerByAddressTest, ALaterChoiceReplacesTheEarlier) {
  std::vector<Socket> listeners = OpenListeners(NetAddress("127.0.0.1", 0), 3);
  ASSERT_EQ(SteerByAddress(listeners.front().GetFd(), 3), 0);
  ASSERT_EQ(SteerByAddress(listeners.front().GetFd(), 1), 0);
  std::vector<UniqueFd> clients;
  for (const char* const own : {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
    clients.push_back(ConnectFrom(own, listeners.front().LocalAddress()));
  }
  EXPECT_EQ(Waiting(listeners).front().size(), 4U);
}

TEST(SteerByAddressTest, Refusals) {
  const std::vector<Socket> several = OpenListeners(NetAddress("127.0.0.1", 0), 2);
  EXPECT_EQ(SteerByAddress(several.front().GetFd(), 0), EINVAL);
  const std::vector<Socket> alone = OpenListeners(NetAddress("127.0.0.1", 0), 1);
  EXPECT_EQ(SteerByAddress(alone.front().GetFd(), 1), EINVAL);
  EXPECT_EQ(SteerByAddress(-1, 2), EBADF);
}

TEST(SteerByAddressTest, RefusesIpv6) {
  TURTLE_NEEDS_IPV6();
  const std::vector<Socket> newer = OpenListeners(NetAddress("::1", 0), 2);
  EXPECT_EQ(SteerByAddress(newer.front().GetFd(), 2), EAFNOSUPPORT);
}

}  // namespace
}  // namespace TURTLE_SERVER
