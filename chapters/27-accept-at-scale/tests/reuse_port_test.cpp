// Several listeners on one address: each has a queue, and no other program gets in by mistake.
#ifdef __linux__

#include "core/reuse_port.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/cpu_affinity.h"
#include "support/client.h"
#include "support/needs_ipv6.h"

namespace TURTLE_SERVER {
namespace {

auto OptionOf(const Socket& socket, int option) -> int {
  int value = 0;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket.GetFd(), SOL_SOCKET, option, &value, &size), 0);
  return value;
}

// Accepts and closes the clients that wait. Returns how many there were for each listener.
auto Queued(std::vector<Socket>& listeners) -> std::vector<int> {
  std::vector<int> queued;
  for (Socket& listener : listeners) {
    listener.SetNonBlocking();
    queued.push_back(0);
    NetAddress client;
    while (UniqueFd(listener.Accept(client))) {
      ++queued.back();
    }
  }
  return queued;
}

auto Connect(const NetAddress& server, int count) -> std::vector<std::unique_ptr<test::Client>> {
  std::vector<std::unique_ptr<test::Client>> clients;
  while (static_cast<int>(clients.size()) < count) {
    clients.push_back(std::make_unique<test::Client>(server.Port(), server.Ip()));
  }
  return clients;
}

// Returns the message that opening them throws, "" if it throws none.
auto Refusal(const NetAddress& address, std::size_t count) -> std::string {
  try {
    const auto listeners = OpenListeners(address, count);
    return "";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EADDRINUSE);
    return error.what();
  }
}

class ReusePortTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "::1") {
      TURTLE_NEEDS_IPV6();
    }
  }

  const NetAddress any_port_{GetParam(), 0};
};

TEST_P(ReusePortTest, OneStaysAlone) {
  const auto listeners = OpenListeners(any_port_, 1);
  ASSERT_EQ(listeners.size(), 1U);
  EXPECT_EQ(OptionOf(listeners[0], SO_REUSEPORT), 0);
}

TEST_P(ReusePortTest, ClientsAreDealtOutAmongSeveral) {
  constexpr int kClients = 400;
  auto listeners = OpenListeners(any_port_, 4);
  ASSERT_EQ(listeners.size(), 4U);
  const NetAddress address = listeners.front().LocalAddress();
  for (const Socket& listener : listeners) {
    EXPECT_EQ(listener.LocalAddress().ToString(), address.ToString());
  }
  Connect(address, kClients);
  const std::vector<int> queued = Queued(listeners);
  EXPECT_EQ(std::accumulate(queued.begin(), queued.end(), 0), kClients);
  for (const int clients : queued) {
    EXPECT_GT(clients, 0);
  }
}

TEST_P(ReusePortTest, WhoComesLaterIsRefused) {
  const auto listeners = OpenListeners(any_port_, 2);
  const NetAddress address = listeners.front().LocalAddress();
  for (const std::size_t count : {1U, 2U}) {
    EXPECT_EQ(Refusal(address, count), "bind " + address.ToString() + ": Address already in use");
  }
}

TEST_P(ReusePortTest, WhoStandsAloneIsNotJoined) {
  const auto alone = OpenListeners(any_port_, 1);
  const NetAddress address = alone.front().LocalAddress();
  EXPECT_EQ(Refusal(address, 2), "bind " + address.ToString() + ": Address already in use");
}

// Two programs start at the same moment: both have bound, and both continue.
TEST_P(ReusePortTest, OfTwoAtTheSameMomentOneIsRefused) {
  Socket early;
  early.Bind(any_port_);
  const NetAddress address = early.LocalAddress();
  const auto listeners = OpenListeners(address, 3);
  EXPECT_EQ(listeners.size(), 3U);
  EXPECT_THROW(early.Listen(), std::system_error);
}

TEST_P(ReusePortTest, TheirPortIsFreeWhenTheyHaveGone) {
  NetAddress address;
  {
    auto listeners = OpenListeners(any_port_, 2);
    address = listeners.front().LocalAddress();
    const auto clients = Connect(address, 4);
    Queued(listeners);  // our end is closed first, and goes to TIME_WAIT
  }
  EXPECT_EQ(Refusal(address, 3), "");
}

INSTANTIATE_TEST_SUITE_P(Families, ReusePortTest, testing::Values("127.0.0.1", "::1"),
                         [](const auto& family) {
                           return family.param == "::1" ? "Ipv6" : "Ipv4";
                         });

TEST(PreferThisCpu, AListenerMayPreferOneAndNone) {
  const auto listeners = OpenListeners(NetAddress("127.0.0.1", 0), 2);
  const CpuPin pin(0);
  ASSERT_EQ(pin.Error(), 0);
  const int error = PreferThisCpu(listeners[0].GetFd());
  EXPECT_TRUE(error == 0 || error == ENOTSUP) << error;
  EXPECT_EQ(OptionOf(listeners[0], SO_INCOMING_CPU), ::sched_getcpu());
  EXPECT_EQ(PreferNoCpu(listeners[0].GetFd()), 0);
  EXPECT_EQ(OptionOf(listeners[0], SO_INCOMING_CPU), -1);
}

TEST(PreferThisCpu, WhatCannotBeIsTold) {
  const Socket no_descriptor;
  EXPECT_EQ(PreferThisCpu(no_descriptor.GetFd()), EBADF);
  EXPECT_EQ(PreferNoCpu(no_descriptor.GetFd()), EBADF);
}

// Over loopback, packets arrive at the CPU that sends them.
TEST(PreferThisCpu, ClientsGoToTheListenerOfTheirCpu) {
  constexpr int kClients = 40;
  auto listeners = OpenListeners(NetAddress("127.0.0.1", 0), 3);
  const NetAddress address = listeners.front().LocalAddress();
  const CpuPin pin(std::thread::hardware_concurrency() - 1);
  ASSERT_EQ(pin.Error(), 0);
  if (const int error = PreferThisCpu(listeners[1].GetFd()); error == ENOTSUP) {
    GTEST_SKIP() << "this kernel does not look for it among several: before Linux 6.2";
  } else {
    ASSERT_EQ(error, 0);
  }
  Connect(address, kClients);
  EXPECT_EQ(Queued(listeners), (std::vector<int>{0, kClients, 0}));
  ASSERT_EQ(PreferNoCpu(listeners[1].GetFd()), 0);
  Connect(address, kClients);
  EXPECT_LT(Queued(listeners)[1], kClients) << "dealt out as before";
}

}  // namespace
}  // namespace TURTLE_SERVER

#endif  // __linux__
