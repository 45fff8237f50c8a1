// With ListenOptions::defer_accept a client counts from its first byte on.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/acceptor.h"
#include "core/tcp.h"
#include "support/client.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;

constexpr std::chrono::seconds kLongerThanTheTest{60};

// Echoes, and counts the clients that it has accepted.
class EchoServer {
 public:
  explicit EchoServer(ListenOptions options) {
    Socket listener;
    listener.Bind(NetAddress("127.0.0.1", 0));
    listener.Listen();
    port_ = listener.LocalAddress().Port();
    acceptor_.emplace(loop_.Get(), std::move(listener), std::vector<Looper*>{&loop_.Get()},
                      callbacks_, options);
    loop_.Ask([this] { acceptor_->Start(); });
  }
  ~EchoServer() {
    loop_.Ask([this] { acceptor_->Stop(); });
  }
  EchoServer(const EchoServer&) = delete;
  auto operator=(const EchoServer&) -> EchoServer& = delete;

  auto Port() const -> int { return port_; }
  auto Accepted() -> int {
    int accepted = 0;
    loop_.Ask([&] { accepted = accepted_; });
    return accepted;
  }

 private:
  int accepted_ = 0;  // the loop's
  int port_ = 0;
  const ConnectionCallbacks callbacks_{
      [this](Connection*) { ++accepted_; },
      [](Connection* connection) {
        if (connection->Recv().exit) {
          connection->GetLooper()->DeleteConnection(connection->GetFd());
        }
        connection->WriteToWriteBuffer(connection->Read());
        connection->ClearReadBuffer();
      }};
  LoopThread loop_;
  std::optional<Acceptor> acceptor_;
};

TEST(DeferredAccept, ASilentClientIsKeptBackUntilItSpeaks) {
  ListenOptions options;
  options.defer_accept = kLongerThanTheTest;
  EchoServer server(options);
  Client silent(server.Port());
  Client speaker(server.Port());
  speaker.Send("hello");
  ASSERT_EQ(speaker.Receive(5), "hello");
#ifdef __linux__
  EXPECT_EQ(server.Accepted(), 1) << "the silent one came first, and is not to be seen";
#endif
  silent.Send("now");
  EXPECT_EQ(silent.Receive(3), "now");
  EXPECT_EQ(server.Accepted(), 2);
}

TEST(DeferredAccept, IsOffUnlessItIsAskedFor) {
  EchoServer server(ListenOptions{});
  const Client silent(server.Port());
  Client speaker(server.Port());
  speaker.Send("hello");
  ASSERT_EQ(speaker.Receive(5), "hello");
  EXPECT_EQ(server.Accepted(), 2) << "they are accepted in the order in which they came";
}

TEST(DeferredAccept, IsMissedAloudWhereItCanNotBeHad) {
  const ConnectionCallbacks callbacks{nullptr, [](Connection*) {}};
  Looper looper;
  ListenOptions options;
  options.defer_accept = kLongerThanTheTest;
  Socket local(UniqueFd(::socket(AF_UNIX, SOCK_STREAM, 0)));  // not TCP
  testing::internal::CaptureStderr();
  const Acceptor acceptor(looper, std::move(local), {&looper}, callbacks, options);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("WARN"), std::string::npos) << log;
  EXPECT_NE(log.find("60 s"), std::string::npos) << log;
}

TEST(DeferredAccept, OfWhatIsNoSocketIsRefused) {
  EXPECT_FALSE(DeferAccept(-1, kLongerThanTheTest));
}

}  // namespace
}  // namespace TURTLE_SERVER
