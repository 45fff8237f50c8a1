// The listeners that systemd or a predecessor leaves to a program: each descriptor is checked, and
// each mistake has a name.
#include "ops/inherited_listeners.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/unix_listener.h"
#include "support/child.h"
#include "support/log_folder.h"
#include "support/needs_ipv6.h"

namespace TURTLE_SERVER {
namespace {

constexpr long kPid = 4711;

auto Listening(const std::string& host, int port = 0) -> Socket {
  Socket socket;
  socket.Bind(NetAddress(host, port));
  socket.Listen();
  return socket;
}

// Puts copies of descriptors at consecutive numbers, as a child would find them from 3 on. The
// numbers are high: nothing else uses them here.
class InheritedListenersTest : public testing::Test {
 protected:
  static constexpr int kFirst = 200;

  ~InheritedListenersTest() override {
    for (int i = 0; i < count_; ++i) {
      ::close(kFirst + i);  // EBADF where it was taken over
    }
  }

  void Leave(int fd) {
    const int place = kFirst + count_++;
    ASSERT_EQ(::dup2(fd, place), place);
  }

  [[nodiscard]] auto Environment(const std::string& names = "") const -> ListenEnvironment {
    ListenEnvironment environment;
    environment.pid = std::to_string(kPid);
    environment.fds = std::to_string(count_);
    if (!names.empty()) {
      environment.names = names;
    }
    return environment;
  }

  // Returns the message that it throws, "" if it throws none.
  static auto Refusal(const ListenEnvironment& environment) -> std::string {
    try {
      const InheritedListeners inherited(environment, kPid, kFirst);
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  int count_ = 0;
};

TEST_F(InheritedListenersTest, EachIsFoundByItsAddress) {
  TURTLE_NEEDS_IPV6();
  const Socket ipv4 = Listening("127.0.0.1");
  const Socket ipv6 = Listening("::1");
  const test::LogFolder folder;
  UnixListener path(folder.Path("socket"));
  const Socket unix_socket = path.TakeSocket();
  Leave(ipv4.GetFd());
  Leave(unix_socket.GetFd());
  Leave(ipv6.GetFd());
  InheritedListeners inherited(Environment("web::six"), kPid, kFirst);
  EXPECT_EQ(inherited.Left(), 3U);

  auto six = inherited.Take(ipv6.LocalAddress());
  ASSERT_TRUE(six);
  EXPECT_EQ(six->socket.GetFd(), kFirst + 2);
  EXPECT_EQ(six->name, "six");
  EXPECT_EQ(::fcntl(six->socket.GetFd(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(inherited.Take(ipv6.LocalAddress())) << "there is one";

  EXPECT_FALSE(inherited.TakePath(folder.Path("other")));
  EXPECT_FALSE(inherited.TakePath("")) << "a listener of IPv4 has no path";
  auto file = inherited.TakePath(folder.Path("socket"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->name, "");

  auto four = inherited.Take(ipv4.LocalAddress());
  ASSERT_TRUE(four);
  EXPECT_EQ(four->name, "web");
  EXPECT_EQ(inherited.Left(), 0U);
  inherited.RequireAllTaken();
}

TEST_F(InheritedListenersTest, AnyPortIsThePortThatIsThere) {
  const Socket one = Listening("127.0.0.1");
  Leave(one.GetFd());
  InheritedListeners inherited(Environment(), kPid, kFirst);
  EXPECT_FALSE(inherited.Take(NetAddress("127.0.0.2", 0)));
  EXPECT_FALSE(inherited.Take(NetAddress("127.0.0.1", one.LocalAddress().Port() == 1 ? 2 : 1)));
  auto found = inherited.Take(NetAddress("127.0.0.1", 0));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "unknown");
  EXPECT_EQ(found->socket.LocalAddress(), one.LocalAddress());
}

TEST_F(InheritedListenersTest, WhatNobodyAskedForIsNamed) {
  TURTLE_NEEDS_IPV6();
  const Socket one = Listening("127.0.0.1");
  const Socket two = Listening("::1");
  Leave(one.GetFd());
  Leave(two.GetFd());
  InheritedListeners inherited(Environment("web:six"), kPid, kFirst);
  ASSERT_TRUE(inherited.Take(one.LocalAddress()));
  try {
    inherited.RequireAllTaken();
    FAIL() << "its clients would wait for ever";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), "inherited descriptor 201 (six) listens on " +
                                two.LocalAddress().ToString() +
                                ": not among the addresses to serve");
  }
}

TEST_F(InheritedListenersTest, WhatIsMeantForAnotherProcessMeansNothing) {
  Leave(Listening("127.0.0.1").GetFd());
  ListenEnvironment environment = Environment();
  environment.pid = std::to_string(kPid + 1);
  EXPECT_EQ(InheritedListeners(environment, kPid, kFirst).Left(), 0U);
  environment.pid.reset();
  EXPECT_EQ(InheritedListeners(environment, kPid, kFirst).Left(), 0U);
  environment = Environment();
  environment.fds.reset();
  EXPECT_EQ(InheritedListeners(environment, kPid, kFirst).Left(), 0U);
  EXPECT_GE(::fcntl(kFirst, F_GETFD), 0) << "and stays as it is";
}

TEST_F(InheritedListenersTest, AVariableThatIsNoneIsRefused) {
  Leave(Listening("127.0.0.1").GetFd());
  for (const char* wrong : {"", "0", "-1", "1x", " 1", "99999999999999999999"}) {
    ListenEnvironment environment = Environment();
    environment.fds = wrong;
    EXPECT_EQ(Refusal(environment).rfind(std::string("LISTEN_FDS='") + wrong + "' is not", 0), 0U)
        << wrong << ": " << Refusal(environment);
    environment = Environment();
    environment.pid = wrong;
    EXPECT_EQ(Refusal(environment).rfind(std::string("LISTEN_PID='") + wrong + "' is not", 0), 0U);
  }
  EXPECT_EQ(Refusal(Environment("one:two")),
            "LISTEN_FDNAMES='one:two' has 2 names for 1 descriptors");
}

TEST_F(InheritedListenersTest, WhatIsNoListenerIsRefused) {
  Leave(Listening("127.0.0.1").GetFd());
  ListenEnvironment too_many = Environment();
  too_many.fds = "2";
  EXPECT_EQ(Refusal(too_many), "LISTEN_FDS='2': descriptor 201 is not open");
  too_many.fds = "2000000000";
  EXPECT_EQ(Refusal(too_many), "LISTEN_FDS='2000000000': descriptor 2000000199 is not open");

  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const UniqueFd one(pair[0]);
  const UniqueFd other(pair[1]);
  const UniqueFd datagrams(::socket(AF_INET, SOCK_DGRAM, 0));
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const struct {
    int fd;
    const char* why;
  } wrong[] = {{one.Get(), "inherited descriptor 200 (web) does not listen"},
               {datagrams.Get(), "inherited descriptor 200 (web) is not a stream socket"},
               {file.Get(), "inherited descriptor 200 (web) is not a stream socket"}};
  for (const auto& [fd, why] : wrong) {
    count_ = 0;
    Leave(fd);
    EXPECT_EQ(Refusal(Environment("web")), why);
  }
}

TEST(TakeListenEnvironment, TheVariablesAreNotForOurChildren) {
  ::setenv("LISTEN_PID", "1", 1);
  ::setenv("LISTEN_FDS", "2", 1);
  ::setenv("LISTEN_FDNAMES", "a:b", 1);
  ::setenv("LISTEN_PIDFDID", "3", 1);
  const ListenEnvironment taken = TakeListenEnvironment();
  EXPECT_EQ(taken.pid, "1");
  EXPECT_EQ(taken.fds, "2");
  EXPECT_EQ(taken.names, "a:b");
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"}) {
    EXPECT_EQ(::getenv(name), nullptr) << name;
  }
  EXPECT_FALSE(TakeListenEnvironment().pid);
}

// Why a listener is inherited: its queue lives as long as any process has it, while the queue of
// another socket on the same port dies with that socket.
TEST(ListenQueue, OnlyTheInheritedListenerLosesNobody) {
  test::Child program(test::ExamplePath("listen_queue"), {"200"});
  const std::string shared = program.ReadLine();
  const std::string inherited = program.ReadLine();
  EXPECT_EQ(program.Wait(), 0) << program.ReadErrors();
  EXPECT_EQ(inherited, "one socket, and both have it: 200 of 200 answered, 0 reset");
#ifdef __linux__  // the kernel deals clients out by a hash of their ports
  int answered = -1;
  ASSERT_EQ(
      std::sscanf(shared.c_str(), "two sockets on one port (SO_REUSEPORT): %d of 200", &answered),
      1)
      << shared;
  EXPECT_GT(answered, 0);
  EXPECT_LT(answered, 200) << "about half of them were in the queue that has gone";
#endif
}

}  // namespace
}  // namespace TURTLE_SERVER
