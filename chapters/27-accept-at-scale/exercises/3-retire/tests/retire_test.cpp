#include "core/retire.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "core/reuse_port.h"
#include "support/client.h"
#include "support/no_descriptors.h"

namespace TURTLE_SERVER {
namespace {

constexpr int kClients = 96;

class RetireTest : public testing::TestWithParam<std::size_t> {
 protected:
  void Connect(int count) {
    for (int i = 0; i < count; ++i) {
      clients_.push_back(std::make_unique<test::Client>(server_.Port(), server_.Ip()));
    }
  }

  auto Take() {
    return [this](Socket client, const NetAddress& from) {
      EXPECT_EQ(from.Ip(), server_.Ip());
      EXPECT_NE(from.Port(), 0);
      taken_.push_back(std::move(client));
    };
  }

  // How many wait for one of them.
  auto Waiting(std::size_t index) -> int {
    tcp_info info{};
    socklen_t size = sizeof info;
    EXPECT_EQ(::getsockopt(listeners_[index].GetFd(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
    return static_cast<int>(info.tcpi_unacked);
  }

  // How many wait for each listener. They are let in.
  auto Accept() -> std::vector<int> {
    std::vector<int> counts;
    for (Socket& listener : listeners_) {
      listener.SetNonBlocking();
      counts.push_back(0);
      NetAddress client;
      for (UniqueFd fd(listener.Accept(client)); fd; fd.Reset(listener.Accept(client))) {
        ++counts.back();
        taken_.emplace_back(std::move(fd));
      }
    }
    return counts;
  }

  // A lost client has been reset.
  void ExpectThatAllAreServed() {
    for (Socket& each : taken_) {
      EXPECT_EQ(each.Send("x").bytes, 1U);
    }
    for (const auto& client : clients_) {
      EXPECT_EQ(client->Receive(1), "x");
    }
  }

  void Join() {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_TRUE(SharePort(fd.Get()));
    listeners_.emplace_back(std::move(fd));
    listeners_.back().Bind(server_);
    listeners_.back().Listen();
  }

  std::vector<Socket> listeners_ = OpenListeners(NetAddress("127.0.0.1", 0), 3);
  const NetAddress server_ = listeners_.front().LocalAddress();
  std::vector<std::unique_ptr<test::Client>> clients_;
  std::vector<Socket> taken_;
};

TEST_P(RetireTest, WhoWaitsIsTakenAndNobodyIsLost) {
  Connect(kClients);
  Retire(listeners_, GetParam(), Take());
  EXPECT_EQ(listeners_.size(), 2U);
  EXPECT_GT(taken_.size(), 0U);
  EXPECT_LT(taken_.size(), std::size_t{kClients});
  Accept();
  EXPECT_EQ(taken_.size(), std::size_t{kClients});
  ExpectThatAllAreServed();
}

TEST_P(RetireTest, WhoComesMeanwhileComesToTheOthers) {
  Connect(kClients);
  const int waiting = Waiting(GetParam());
  int rounds = 0;
  Retire(listeners_, GetParam(), [&](Socket client, const NetAddress&) {
    taken_.push_back(std::move(client));
    if (++rounds <= 8) {
      Connect(8);
    }
  });
  ASSERT_GE(rounds, 8);
  EXPECT_EQ(rounds, waiting) << "it is dealt clients as ever";
  const std::vector<int> others = Accept();
  EXPECT_EQ(std::accumulate(others.begin(), others.end(), rounds), kClients + 64);
  for (const int each : others) {
    EXPECT_GT(each, 0) << "all of the others serve";
  }
  ExpectThatAllAreServed();
}

TEST_P(RetireTest, AfterwardsTheKernelDealsAsEver) {
  Retire(listeners_, GetParam(), Take());
  Join();
  Connect(kClients);
  for (const int each : Accept()) {
    EXPECT_GT(each, kClients / 16);
  }
}

TEST_P(RetireTest, WhatTakeThrowsIsPassedOn) {
  Connect(kClients);
  int calls = 0;
  EXPECT_THROW(Retire(listeners_, GetParam(),
                      [&](Socket client, const NetAddress&) {
                        taken_.push_back(std::move(client));
                        if (++calls == 3) {
                          throw std::runtime_error("no room");
                        }
                      }),
               std::runtime_error);
  ASSERT_EQ(listeners_.size(), 3U);
  EXPECT_EQ(calls, 3);
  Accept();
  EXPECT_EQ(taken_.size(), std::size_t{kClients});
  Connect(kClients);
  EXPECT_GT(Accept()[GetParam()], 0) << "it gets its share again";
  ExpectThatAllAreServed();
}

TEST_P(RetireTest, WithoutDescriptorsItStays) {
  Connect(kClients);
  {
    const test::NoDescriptors none;
    try {
      Retire(listeners_, GetParam(), Take());
      ADD_FAILURE() << "a client was accepted";
    } catch (const std::system_error& error) {
      EXPECT_STREQ(error.what(), "accept: Too many open files");
    }
  }
  ASSERT_EQ(listeners_.size(), 3U);
  Accept();
  EXPECT_EQ(taken_.size(), std::size_t{kClients});
  ExpectThatAllAreServed();
}

TEST_P(RetireTest, ItsModeIsLeftAsItIs) {
  const UniqueFd shared(::fcntl(listeners_[GetParam()].GetFd(), F_DUPFD_CLOEXEC, 0));
  const int before = ::fcntl(shared.Get(), F_GETFL);
  Connect(kClients);
  Retire(listeners_, GetParam(), Take());
  EXPECT_EQ(::fcntl(shared.Get(), F_GETFL), before);
  for (const Socket& each : taken_) {
    EXPECT_EQ(::fcntl(each.GetFd(), F_GETFL) & O_NONBLOCK, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, RetireTest, testing::Values(0, 1, 2));

TEST(RetireRefusalTest, ThereHasToBeAnother) {
  std::vector<Socket> listeners = OpenListeners(NetAddress("127.0.0.1", 0), 2);
  const auto refusal = [&](std::size_t index) -> std::string {
    try {
      Retire(listeners, index, [](Socket, const NetAddress&) {});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(2), "no listener 2 among 2");
  EXPECT_EQ(refusal(1), "");
  ASSERT_EQ(listeners.size(), 1U);
  EXPECT_EQ(refusal(0), "the last listener can't retire");
  EXPECT_EQ(listeners.size(), 1U);
}

}  // namespace
}  // namespace TURTLE_SERVER
