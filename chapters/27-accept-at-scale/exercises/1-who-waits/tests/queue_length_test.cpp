#include "core/queue_length.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "core/net_address.h"
#include "core/reuse_port.h"
#include "core/socket.h"
#include "support/client.h"
#include "support/needs_ipv6.h"

namespace TURTLE_SERVER {
namespace {

class QueueLengthTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "::1") {
      TURTLE_NEEDS_IPV6();
    }
  }

  void Connect(const NetAddress& server, int count) {
    for (int i = 0; i < count; ++i) {
      clients_.push_back(std::make_unique<test::Client>(server.Port(), server.Ip()));
    }
  }

  const NetAddress any_port_{GetParam(), 0};
  std::vector<std::unique_ptr<test::Client>> clients_;
};

TEST_P(QueueLengthTest, WhoIsAcceptedWaitsNoLonger) {
  Socket listener;
  listener.Bind(any_port_);
  listener.Listen(7);
  Connect(listener.LocalAddress(), 3);
  std::optional<QueueLength> queue = LengthOfQueue(listener.GetFd());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->waiting, 3U);
  EXPECT_EQ(queue->limit, 7U);

  NetAddress client;
  const UniqueFd accepted(listener.Accept(client));
  queue = LengthOfQueue(listener.GetFd());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->waiting, 2U);
  EXPECT_FALSE(LengthOfQueue(accepted.Get())) << "a connection has no queue";
}

TEST_P(QueueLengthTest, EachListenerHasItsOwn) {
  constexpr std::uint32_t kClients = 40;
  const std::vector<Socket> listeners = OpenListeners(any_port_, 3);
  Connect(listeners.front().LocalAddress(), kClients);
  std::uint32_t sum = 0;
  for (const Socket& listener : listeners) {
    const std::optional<QueueLength> queue = LengthOfQueue(listener.GetFd());
    ASSERT_TRUE(queue);
    EXPECT_LT(queue->waiting, kClients);
    sum += queue->waiting;
  }
  EXPECT_EQ(sum, kClients);
}

INSTANTIATE_TEST_SUITE_P(Families, QueueLengthTest, testing::Values("127.0.0.1", "::1"));

TEST(QueueLengthRefusalTest, WhatDoesNotListenHasNone) {
  Socket bound;
  bound.Bind(NetAddress("127.0.0.1", 0));
  EXPECT_FALSE(LengthOfQueue(bound.GetFd()));
  bound.Listen();
  EXPECT_TRUE(LengthOfQueue(bound.GetFd()));
  EXPECT_FALSE(LengthOfQueue(-1));

  const UniqueFd local(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un any{AF_UNIX, {}};
  ASSERT_EQ(::bind(local.Get(), reinterpret_cast<const sockaddr*>(&any), sizeof any.sun_family), 0);
  ASSERT_EQ(::listen(local.Get(), 5), 0);
  EXPECT_FALSE(LengthOfQueue(local.Get())) << "it listens, but is not TCP";
}

}  // namespace

}  // namespace TURTLE_SERVER
