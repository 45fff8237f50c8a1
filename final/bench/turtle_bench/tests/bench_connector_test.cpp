#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/connector.h"
#include "core/socket.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

auto Listener(int backlog) -> Socket {
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen(backlog);
  return listener;
}

// Connects as often as asked, and runs until every outcome is known.
class Outcomes {
 public:
  explicit Outcomes(const NetAddress& server, milliseconds timeout = test::kPatience)
      : connector_(looper_, server, timeout, [this](std::uint32_t tag, UniqueFd socket, int error) {
          EXPECT_EQ(errors_.count(tag), 0U) << "told twice";
          EXPECT_EQ(static_cast<bool>(socket), error == 0);
          errors_[tag] = error;
          sockets_.push_back(std::move(socket));
          if (errors_.size() == wanted_) {
            looper_.Stop();
          }
        }) {}

  void Run(std::uint32_t count) {
    wanted_ = count;
    ASSERT_TRUE(looper_.Post([this] {
      for (std::uint32_t tag = 0; tag < wanted_; ++tag) {
        connector_.Connect(tag);
      }
    }));
    looper_.RunAfter(test::kPatience, [this] { looper_.Stop(); });
    looper_.Loop();
    ASSERT_EQ(errors_.size(), count);
    EXPECT_EQ(connector_.Pending(), 0U);
  }

  [[nodiscard]] auto GetLooper() -> Looper& { return looper_; }
  [[nodiscard]] auto Errors() const -> const std::map<std::uint32_t, int>& { return errors_; }
  [[nodiscard]] auto Sockets() const -> const std::vector<UniqueFd>& { return sockets_; }

 private:
  Looper looper_;
  Connector connector_;
  std::size_t wanted_ = 0;
  std::map<std::uint32_t, int> errors_;
  std::vector<UniqueFd> sockets_;
};

TEST(ConnectorTest, ConnectsWithoutDelay) {
  Socket listener = Listener(SOMAXCONN);
  Outcomes outcomes(listener.LocalAddress());
  outcomes.Run(20);
  for (const auto& [tag, error] : outcomes.Errors()) {
    EXPECT_EQ(error, 0) << tag;
  }
  for (const UniqueFd& socket : outcomes.Sockets()) {
    int no_delay = 0;
    socklen_t size = sizeof no_delay;
    ASSERT_EQ(::getsockopt(socket.Get(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
    EXPECT_NE(no_delay, 0);
    char byte = 0;
    EXPECT_EQ(::recv(socket.Get(), &byte, 1, 0), -1);
    EXPECT_EQ(errno, EAGAIN) << "it must not block";
  }
}

#ifdef __linux__
TEST(ConnectorTest, CallsLoopbackFromManyAddresses) {
  Socket listener = Listener(SOMAXCONN);
  Outcomes outcomes(listener.LocalAddress());
  outcomes.Run(100);
  std::set<std::string> sources;
  for (int i = 0; i < 100; ++i) {
    NetAddress client;
    const UniqueFd socket(listener.Accept(client));
    EXPECT_EQ(client.Ip().rfind("127.0.0.", 0), 0U) << client.Ip();
    sources.insert(client.Ip());
  }
  EXPECT_EQ(sources.size(), 64U);
}
#endif

TEST(ConnectorTest, IPv6) {
  Socket listener;
  try {
    listener.Bind(NetAddress("::1", 0));
  } catch (const std::exception&) {
    GTEST_SKIP() << "no IPv6 here";
  }
  listener.Listen();
  Outcomes outcomes(listener.LocalAddress());
  outcomes.Run(3);
  EXPECT_EQ(outcomes.Errors().at(2), 0);
}

TEST(ConnectorTest, TellsOfARefusal) {
  Socket nobody;
  nobody.Bind(NetAddress("127.0.0.1", 0));  // bound, but not listening
  Outcomes outcomes(nobody.LocalAddress());
  outcomes.Run(5);
  for (const auto& [tag, error] : outcomes.Errors()) {
    EXPECT_EQ(error, ECONNREFUSED) << tag;
  }
}

#ifdef __linux__
// A queue of one that is never emptied: the kernel drops everything beyond it.
TEST(ConnectorTest, GivesUpWhenTheTimeIsOver) {
  Socket listener = Listener(0);
  Outcomes outcomes(listener.LocalAddress(), milliseconds(50));
  outcomes.Run(6);
  EXPECT_EQ(outcomes.Errors().at(0), 0);
  EXPECT_EQ(outcomes.Errors().at(5), ETIMEDOUT);
}

// The kernel tries again after a second, and there is room then.
TEST(ConnectorTest, AConnectionMayComeAboutLater) {
  Socket listener = Listener(0);
  listener.SetNonBlocking();
  Outcomes outcomes(listener.LocalAddress());
  std::vector<UniqueFd> accepted;
  outcomes.GetLooper().Watch(listener.GetFd(), Interest::kRead, [&](const PollEvent&) {
    NetAddress client;
    accepted.emplace_back(listener.Accept(client));
  });
  outcomes.Run(6);
  for (const auto& [tag, error] : outcomes.Errors()) {
    EXPECT_EQ(error, 0) << tag;
  }
  EXPECT_GE(accepted.size(), 1U);
}

TEST(ConnectorTest, TellsNothingOnceItIsGone) {
  Socket listener = Listener(0);
  Looper looper;
  int told = 0;
  {
    Connector connector(looper, listener.LocalAddress(), milliseconds(1),
                        [&](std::uint32_t, const UniqueFd&, int) { ++told; });
    for (std::uint32_t tag = 0; tag < 6; ++tag) {
      connector.Connect(tag);
    }
    EXPECT_GT(connector.Pending(), 0U);
    told = 0;
  }
  looper.RunAfter(milliseconds(5), [&] { looper.Stop(); });
  looper.Loop();
  EXPECT_EQ(told, 0);
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
