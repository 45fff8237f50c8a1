// The two ends of a connection: which calls query the kernel for them, and how often.
#include "web/connection_ends.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "core/looper.h"
#include "support/http_client.h"
#include "support/needs_ipv6.h"
#include "support/running_server.h"
#include "support/tcp_pair.h"
#include "task/task_pool.h"
#include "web/offload.h"

namespace TURTLE_SERVER {
namespace {

// Counts the calls of getpeername(2) and getsockname(2).
struct Questions {
  std::atomic<int> source{0};
  std::atomic<int> destination{0};
  std::atomic<int> failing{0};  // this many of the next ones fail
};

Questions questions;

#ifdef __linux__
auto Fails() noexcept -> bool {
  int left = questions.failing;
  while (left > 0 && !questions.failing.compare_exchange_weak(left, left - 1)) {
  }
  return left > 0;
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER

#ifdef __linux__
extern "C" {

auto getpeername(int fd, sockaddr* address, socklen_t* size) noexcept -> int {
  ++TURTLE_SERVER::questions.source;
  if (TURTLE_SERVER::Fails()) {
    errno = ENOTCONN;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_getpeername, fd, address, size));
}

auto getsockname(int fd, sockaddr* address, socklen_t* size) noexcept -> int {
  ++TURTLE_SERVER::questions.destination;
  if (TURTLE_SERVER::Fails()) {
    errno = ENOBUFS;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_getsockname, fd, address, size));
}

}  // extern "C"
#endif

namespace TURTLE_SERVER {
namespace {

#ifdef __linux__
constexpr bool kCounts = true;
#else
constexpr bool kCounts = false;  // the C library's functions are not replaced there
#endif

using test::HttpClient;
using test::RunningServer;

class ConnectionEndsTest : public testing::Test {
 protected:
  ConnectionEndsTest() { Forget(); }
  ~ConnectionEndsTest() override { Forget(); }

  static void Forget() {
    questions.source = 0;
    questions.destination = 0;
    questions.failing = 0;
  }

  auto Connect(Socket socket) -> Connection { return {std::move(socket), looper_, none_, 1}; }

  Looper looper_;
  const ConnectionCallbacks none_;
  ConnectionEndsTable ends_;
};

// The server's socket and its client's, over `address`.
struct Pair {
  Socket server;
  Socket client;
};

auto PairOver(const char* address) -> Pair {
  Socket listener;
  listener.Bind(NetAddress(address, 0));
  listener.Listen();
  Socket client;
  client.Connect(listener.LocalAddress());
  NetAddress from;
  return {Socket(UniqueFd(listener.Accept(from))), std::move(client)};
}

TEST_F(ConnectionEndsTest, TheKernelIsAskedOnce) {
  Pair pair = PairOver("127.0.0.1");
  const NetAddress client = pair.client.LocalAddress();
  const NetAddress server = pair.server.LocalAddress();
  const Connection connection = Connect(std::move(pair.server));
  Forget();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ends_.SourceOf(connection), client);
  }
  EXPECT_EQ(questions.destination, 0) << "nobody wanted to know";
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ends_.DestinationOf(connection), server);
  }
  if (kCounts) {
    EXPECT_EQ(questions.source, 1);
    EXPECT_EQ(questions.destination, 1);
  }
}

TEST_F(ConnectionEndsTest, TheNextOnItsDescriptorIsAnother) {
  Pair pair = PairOver("127.0.0.1");
  Pair next = PairOver("127.0.0.1");
  const NetAddress client = next.client.LocalAddress();
  const NetAddress server = next.server.LocalAddress();
  const int fd = pair.server.GetFd();
  {
    const Connection first(std::move(pair.server), looper_, none_, 1);
    static_cast<void>(ends_.SourceOf(first));
    static_cast<void>(ends_.DestinationOf(first));
  }
  ASSERT_EQ(::dup2(next.server.GetFd(), fd), fd);
  const Connection second(Socket(UniqueFd(fd)), looper_, none_, 2);
  EXPECT_EQ(ends_.SourceOf(second), client);
  EXPECT_EQ(ends_.DestinationOf(second), server);
}

TEST_F(ConnectionEndsTest, Ipv6HasEndsToo) {
  TURTLE_NEEDS_IPV6()
  Pair pair = PairOver("::1");
  const NetAddress client = pair.client.LocalAddress();
  const Connection connection = Connect(std::move(pair.server));
  Forget();
  EXPECT_EQ(ends_.SourceOf(connection), client);
  EXPECT_EQ(ends_.SourceOf(connection).Ip(), "::1");
  EXPECT_EQ(ends_.DestinationOf(connection).Ip(), "::1");
  EXPECT_EQ(ends_.DestinationOf(connection).Family(), AF_INET6);
  if (kCounts) {
    EXPECT_EQ(questions.source, 1);
    EXPECT_EQ(questions.destination, 1);
  }
}

// Its ends have no names, which is not the same as unknown ones.
TEST_F(ConnectionEndsTest, AUnixSocketIsAskedOnceAsWell) {
  std::array<int, 2> fds{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
  const UniqueFd client(fds[1]);
  const Connection connection = Connect(Socket(UniqueFd(fds[0])));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ends_.SourceOf(connection).ToString(), "unix:");
    EXPECT_EQ(ends_.DestinationOf(connection).ToString(), "unix:");
  }
  if (kCounts) {
    EXPECT_EQ(questions.source, 1);
    EXPECT_EQ(questions.destination, 1);
  }
}

TEST_F(ConnectionEndsTest, WhatTheKernelDoesNotTellIsEmptyAndAskedAgain) {
  if (!kCounts) {
    GTEST_SKIP() << "the calls can't be made to fail here";
  }
  Pair pair = PairOver("127.0.0.1");
  const NetAddress client = pair.client.LocalAddress();
  const NetAddress server = pair.server.LocalAddress();
  const Connection connection = Connect(std::move(pair.server));
  questions.failing = 2;
  EXPECT_EQ(ends_.SourceOf(connection).Family(), AF_UNSPEC);
  EXPECT_EQ(ends_.DestinationOf(connection).Family(), AF_UNSPEC);
  EXPECT_EQ(ends_.SourceOf(connection), client);
  EXPECT_EQ(ends_.DestinationOf(connection), server);
}

// Each request of a connection used to make two more system calls.
TEST_F(ConnectionEndsTest, OffloadedRequestsOfOneConnectionAskOnce) {
  TaskPoolOptions options;
  options.threads = 1;
  TaskPool pool(options);
  pool.Start();
  RunningServer server([&](HttpServer& http) {
    http.Get("/", Offload(pool, {}, [](const ServerRequest& req, ServerResponse& res) {
               res.Text(req.Source().ToString() + ' ' + req.Destination().ToString());
             }));
  });
  const std::string to = " " + server.Get().LocalAddress().ToString();
  const auto ends_of = [&](HttpClient& client) {
    NetAddress own;
    ::getsockname(client.GetFd(), own.Data(), own.Length());
    return own.ToString() + to;
  };
  HttpClient(server.Port()).Ask(test::Get("/"));  // it serves, and has asked for its own address
  HttpClient client(server.Port());
  HttpClient other(server.Port());
  const std::string ends = ends_of(client);
  const std::string other_ends = ends_of(other);
  Forget();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(client.Ask(test::Get("/")).body, ends);
    EXPECT_EQ(other.Ask(test::Get("/")).body, other_ends);
  }
  if (kCounts) {
    EXPECT_EQ(questions.source, 2);
    EXPECT_EQ(questions.destination, 2);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
