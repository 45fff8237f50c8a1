#include "core/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;

auto ListenOnAnyPort(const char* host = "127.0.0.1") -> Socket {
  Socket listener;
  listener.Bind(NetAddress(host, 0));
  listener.Listen();
  return listener;
}

auto AcceptFrom(Socket& listener) -> Socket {
  NetAddress from;
  return Socket(UniqueFd(listener.Accept(from)));
}

auto HasIpv6() -> bool {
  try {
    ListenOnAnyPort("::1");
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// Returns the error that `action` throws; an empty one if it throws none.
template <typename Action>
auto ErrorOf(Action action) -> std::system_error {
  try {
    action();
  } catch (const std::system_error& error) {
    return error;
  }
  return {0, std::generic_category(), "nothing was thrown"};
}

auto IsClosedOnExec(int fd) -> bool { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

void Exchange(const char* host) {
  Socket listener = ListenOnAnyPort(host);
  EXPECT_GT(listener.LocalAddress().Port(), 0) << "the kernel has chosen one";
  Socket client;
  client.Connect(listener.LocalAddress());
  NetAddress from;
  Socket server{UniqueFd(listener.Accept(from))};
  EXPECT_EQ(from, client.LocalAddress());
  EXPECT_EQ(from.Ip(), host);

  std::string bytes(100, '\0');
  ASSERT_EQ(client.Send("question").bytes, 8U);
  IoResult received = server.Recv(bytes.data(), bytes.size());
  EXPECT_EQ(received.status, IoStatus::kBytes);
  EXPECT_EQ(bytes.substr(0, received.bytes), "question");
  ASSERT_EQ(server.Send("answer").bytes, 6U);
  received = client.Recv(bytes.data(), bytes.size());
  EXPECT_EQ(bytes.substr(0, received.bytes), "answer");
}

TEST(Socket, CarriesBytesBothWays) { Exchange("127.0.0.1"); }

TEST(Socket, CarriesBytesOverIpv6) {
  if (!HasIpv6()) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  Exchange("::1");
}

TEST(Socket, Ipv6AnyLeavesThePortOfIpv4Free) {
  if (!HasIpv6()) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  std::error_code error;
  for (int tries = 0; tries < 20; ++tries) {  // another program may have the port of IPv4
    Socket six = ListenOnAnyPort("::");
    Socket four;
    error = ErrorOf([&] {
              four.Bind(NetAddress("0.0.0.0", six.LocalAddress().Port()));
              four.Listen();
            }).code();
    if (error.value() != EADDRINUSE) {
      break;
    }
  }
  EXPECT_FALSE(error) << error.message();
}

TEST(Socket, HasNoDescriptorBeforeItKnowsTheFamily) {
  Socket socket;
  EXPECT_EQ(socket.GetFd(), -1);
  EXPECT_EQ(ErrorOf([&] { static_cast<void>(socket.LocalAddress()); }).code().value(), EBADF);
  const std::system_error error = ErrorOf([&] { socket.Listen(); });
  EXPECT_EQ(error.code().value(), EBADF);
  EXPECT_NE(std::string(error.what()).find("listen (no address)"), std::string::npos)
      << error.what();
}

TEST(Socket, DescriptorsAreClosedOnExec) {
  Socket listener = ListenOnAnyPort();
  Client client(listener.LocalAddress().Port());
  const Socket server = AcceptFrom(listener);
  EXPECT_TRUE(IsClosedOnExec(listener.GetFd()));
  EXPECT_TRUE(IsClosedOnExec(client.GetSocket().GetFd()));
  EXPECT_TRUE(IsClosedOnExec(server.GetFd()));
}

TEST(Socket, MovesAndReleasesItsDescriptor) {
  Socket first = ListenOnAnyPort();
  const int fd = first.GetFd();
  Socket second = std::move(first);
  EXPECT_EQ(second.GetFd(), fd);
  Socket third = ListenOnAnyPort();
  const int closed = third.GetFd();
  third = std::move(second);
  EXPECT_EQ(third.GetFd(), fd);
  EXPECT_LT(::fcntl(closed, F_GETFD), 0);
  const UniqueFd released = third.Release();
  EXPECT_EQ(released.Get(), fd);
  EXPECT_EQ(third.GetFd(), -1);
}

TEST(Socket, APortInUseIsRefusedWhetherReusableOrNot) {
  Socket first = ListenOnAnyPort();
  const NetAddress taken = first.LocalAddress();
  for (const bool reusable : {true, false}) {
    Socket second;
    const auto error = ErrorOf([&] {
      second.Bind(taken, reusable);
      second.Listen();
    });
    EXPECT_EQ(error.code(), std::errc::address_in_use);
    const std::string reason = " " + taken.ToString() + ": Address already in use";
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

TEST(Socket, OfTwoThatBoundAPortOneListens) {
  Socket first;
  first.Bind(NetAddress("127.0.0.1", 0));
  const NetAddress taken = first.LocalAddress();
  Socket second;
  const auto error = ErrorOf([&] {
    second.Bind(taken);  // Linux lets reusable sockets get this far
    first.Listen();
    second.Listen();
  });
  EXPECT_EQ(error.code(), std::errc::address_in_use);
#ifdef __linux__
  EXPECT_EQ(error.what(), "listen " + taken.ToString() + ": Address already in use");
#endif
}

// An open connection holds the port like one in TIME_WAIT, and lasts as long as the test needs it.
TEST(Socket, AConnectionThatIsLeftKeepsOnlyTheCarelessFromItsPort) {
  Socket listener = ListenOnAnyPort();
  const NetAddress address = listener.LocalAddress();
  const Client client(address.Port());
  const Socket left = AcceptFrom(listener);
  listener = Socket();

  Socket careless;
  EXPECT_EQ(ErrorOf([&] { careless.Bind(address, false); }).code(), std::errc::address_in_use);
  Socket restarted;
  restarted.Bind(address, true);
  restarted.Listen();
}

TEST(Socket, BindNamesTheAddressThatIsNotOurs) {
  Socket socket;
  const auto error = ErrorOf([&] { socket.Bind(NetAddress("192.0.2.1", 8080)); });
  EXPECT_STREQ(error.what(), "bind 192.0.2.1:8080: Cannot assign requested address");
  socket.Bind(NetAddress("127.0.0.1", 0));  // another try
  socket.Listen();
}

TEST(Socket, ConnectNamesTheServerAndMayBeRepeated) {
  Socket server;
  server.Bind(NetAddress("127.0.0.1", 0));
  const NetAddress address = server.LocalAddress();
  Socket client;
  const auto error = ErrorOf([&] { client.Connect(address); });
  EXPECT_EQ(error.what(), "connect " + address.ToString() + ": Connection refused");
  EXPECT_EQ(client.GetFd(), -1) << "POSIX leaves the state of such a socket open";
  server.Listen();
  client.Connect(address);
  EXPECT_EQ(AcceptFrom(server).Send("x").bytes, 1U);
}

TEST(Socket, AcceptWithoutDescriptorsFailsAndLosesNobody) {
  Socket listener = ListenOnAnyPort();
  Client client(listener.LocalAddress().Port());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  {
    const UniqueFd lowest_free(::dup(0));
    rlimit limit = before;
    limit.rlim_cur = static_cast<rlim_t>(lowest_free.Get());
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  NetAddress from;
  const int fd = listener.Accept(from);
  const int error = errno;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(fd, -1);
  EXPECT_EQ(error, EMFILE);
  EXPECT_GE(AcceptFrom(listener).GetFd(), 0) << "the client was still in the queue";
}

TEST(Socket, EndIsReportedAfterTheLastByte) {
  Socket listener = ListenOnAnyPort();
  Client client(listener.LocalAddress().Port());
  Socket server = AcceptFrom(listener);
  ASSERT_TRUE(client.Send("bye"));
  client.FinishSending();
  std::string bytes(100, '\0');
  EXPECT_EQ(server.Recv(bytes.data(), bytes.size()).bytes, 3U);
  EXPECT_EQ(server.Recv(bytes.data(), bytes.size()).status, IoStatus::kEnd);
  EXPECT_EQ(server.Send("you too").bytes, 7U) << "half closed is half open";
  EXPECT_EQ(client.Receive(7), "you too");
}

TEST(Socket, ShutdownWriteSendsTheEnd) {
  Socket listener = ListenOnAnyPort();
  Client client(listener.LocalAddress().Port());
  Socket server = AcceptFrom(listener);
  EXPECT_EQ(server.ShutdownWrite(), 0);
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.Ended());
  EXPECT_EQ(Socket().ShutdownWrite(), EBADF) << "and a failure is told, not thrown";
}

TEST(Socket, AResetIsAnError) {
  Socket listener = ListenOnAnyPort();
  Client client(listener.LocalAddress().Port());
  Socket server = AcceptFrom(listener);
  client.Reset();
  char byte = 0;
  const IoResult result = server.Recv(&byte, 1);
  EXPECT_EQ(result.status, IoStatus::kError);
  EXPECT_EQ(result.error, ECONNRESET);
}

TEST(Socket, WritingToAPeerThatHasGoneIsAnErrorAndNoSignal) {
  Socket listener = ListenOnAnyPort();
  Client client(listener.LocalAddress().Port());
  Socket server = AcceptFrom(listener);
  client.Reset();
  ::signal(SIGPIPE, SIG_DFL);
  // The first write may come before the reset has arrived. A SIGPIPE would end this program.
  IoResult result = server.Send("x");
  for (int i = 0; i < 10000 && result.status == IoStatus::kBytes; ++i) {
    result = server.Send("x");
  }
  ASSERT_EQ(result.status, IoStatus::kError);
  result = server.Send("x");
  EXPECT_EQ(result.error, EPIPE);
}

TEST(Socket, SendMayTakeAPart) {
  Socket listener = ListenOnAnyPort();
  Client client(listener.LocalAddress().Port());
  Socket server = AcceptFrom(listener);
  const std::string all(64 << 20, 'x');  // more than the kernel buffers for any socket
  const IoResult result = server.Send(all, MSG_DONTWAIT);
  EXPECT_EQ(result.status, IoStatus::kBytes);
  EXPECT_GT(result.bytes, 0U);
  EXPECT_LT(result.bytes, all.size());
  EXPECT_EQ(client.Receive(result.bytes).size(), result.bytes) << "what it took, arrives";
}

// Runs `call` on its own thread and interrupts it with signals until `release` is called.
std::atomic<int> signals_seen{0};

template <typename Call, typename Release>
void Interrupt(Call call, Release release) {
  struct sigaction count {};
  struct sigaction before {};
  count.sa_handler = [](int) { ++signals_seen; };  // without SA_RESTART: calls fail with EINTR
  ASSERT_EQ(::sigaction(SIGUSR1, &count, &before), 0);
  std::atomic<bool> running{false};
  std::atomic<bool> returned{false};
  std::thread thread([&] {
    running = true;
    call();
    returned = true;
  });
  while (!running) {
    std::this_thread::yield();
  }
  signals_seen = 0;
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (signals_seen < 200 && !returned && std::chrono::steady_clock::now() < deadline) {
    ::pthread_kill(thread.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  EXPECT_GE(signals_seen, 200);
  EXPECT_FALSE(returned) << "nothing had come yet";
  release();
  thread.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(SocketInterrupted, AcceptGoesOn) {
  Socket listener = ListenOnAnyPort();
  Socket server;
  Socket client;
  Interrupt([&] { server = AcceptFrom(listener); },
            [&] { client.Connect(listener.LocalAddress()); });
  EXPECT_GE(server.GetFd(), 0);
}

TEST(SocketInterrupted, RecvGoesOn) {
  Socket listener = ListenOnAnyPort();
  Client client(listener.LocalAddress().Port());
  Socket server = AcceptFrom(listener);
  char byte = 0;
  IoResult result;
  Interrupt([&] { result = server.Recv(&byte, 1); }, [&] { client.Send("x"); });
  EXPECT_EQ(result.status, IoStatus::kBytes);
}

TEST(SocketInterrupted, SendGoesOn) {
  // Not TCP: bytes on their way there make room again, some time after the buffer was full.
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Socket sender{UniqueFd(ends[0])};
  Socket receiver{UniqueFd(ends[1])};
  std::string bytes(65536, 'x');
  std::size_t queued = 0;
  IoResult result = sender.Send(bytes, MSG_DONTWAIT);
  for (; result.status == IoStatus::kBytes; result = sender.Send(bytes, MSG_DONTWAIT)) {
    queued += result.bytes;
  }
  const auto make_room = [&] {
    IoResult received{IoStatus::kBytes, 0, 0};
    while (queued > 0 && received.status == IoStatus::kBytes) {
      received = receiver.Recv(bytes.data(), std::min(queued, bytes.size()));
      queued -= received.bytes;
    }
  };
  Interrupt([&] { result = sender.Send("x"); }, make_room);
  EXPECT_EQ(result.status, IoStatus::kBytes);
}

TEST(SocketInterrupted, ConnectGoesOn) {
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen(0);
  // With a full queue, Linux lets the next client wait in connect(2) and try again in a second.
  const Client fills_the_queue(listener.LocalAddress().Port());
  Socket late;
  std::string failure;
  Interrupt(
      [&] {
        try {
          late.Connect(listener.LocalAddress());
        } catch (const std::system_error& error) {
          failure = error.what();
        }
      },
      [&] { AcceptFrom(listener); });
  EXPECT_EQ(failure, "");
  EXPECT_EQ(late.Send("here").bytes, 4U);
  Socket server = AcceptFrom(listener);
  std::string bytes(4, '\0');
  EXPECT_EQ(server.Recv(bytes.data(), bytes.size()).bytes, 4U);
}

}  // namespace
}  // namespace TURTLE_SERVER
