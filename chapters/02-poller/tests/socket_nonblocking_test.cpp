#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/socket.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;

auto IsNonBlocking(int fd) -> bool { return (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0; }

// Waits until a call of this kind would have work to do.
auto Await(const Socket& socket, short events) -> bool {
  pollfd waiting{socket.GetFd(), events, 0};
  return ::poll(&waiting, 1, static_cast<int>(test::kPatience.count())) == 1;
}

class NonBlockingSocket : public testing::Test {
 protected:
  NonBlockingSocket() {
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.SetNonBlocking();
    listener_.Listen();
  }

  void SetUp() override { ASSERT_TRUE(IsNonBlocking(listener_.GetFd())); }

  // Returns the next client, as soon as the kernel has it.
  auto Accept() -> Socket {
    Await(listener_, POLLIN);
    NetAddress from;
    return Socket(UniqueFd(listener_.Accept(from)));
  }

  Socket listener_;
};

TEST_F(NonBlockingSocket, AcceptDoesNotWait) {
  NetAddress from;
  EXPECT_EQ(listener_.Accept(from), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(NonBlockingSocket, AcceptHandsTheModeOn) {
  Client client(listener_.LocalAddress().Port());
  const Socket server = Accept();
  ASSERT_GE(server.GetFd(), 0);
  EXPECT_TRUE(IsNonBlocking(server.GetFd()));
  EXPECT_NE(::fcntl(server.GetFd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(BlockingSocket, AcceptHandsTheModeOnToo) {
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  Client client(listener.LocalAddress().Port());
  NetAddress from;
  const Socket server{UniqueFd(listener.Accept(from))};
  EXPECT_FALSE(IsNonBlocking(server.GetFd()));
}

TEST_F(NonBlockingSocket, RecvDoesNotWait) {
  Client client(listener_.LocalAddress().Port());
  Socket server = Accept();
  ASSERT_TRUE(IsNonBlocking(server.GetFd())) << "the rest would wait for ever";
  std::string bytes(100, '\0');
  EXPECT_EQ(server.Recv(bytes.data(), bytes.size()).status, IoStatus::kWouldBlock);

  ASSERT_TRUE(client.Send("bye"));
  client.FinishSending();
  ASSERT_TRUE(Await(server, POLLIN));
  EXPECT_EQ(server.Recv(bytes.data(), bytes.size()).bytes, 3U);
  ASSERT_TRUE(Await(server, POLLIN));
  EXPECT_EQ(server.Recv(bytes.data(), bytes.size()).status, IoStatus::kEnd);
}

TEST_F(NonBlockingSocket, SendDoesNotWaitForRoom) {
  Client client(listener_.LocalAddress().Port());
  Socket server = Accept();
  ASSERT_TRUE(IsNonBlocking(server.GetFd())) << "the rest would wait for ever";
  const std::string bytes(1 << 20, 'x');
  std::size_t taken = 0;
  IoResult result = server.Send(bytes);
  for (; result.status == IoStatus::kBytes; result = server.Send(bytes)) {
    taken += result.bytes;
    ASSERT_LT(taken, std::size_t{1} << 30) << "nobody reads, and it is still taking";
  }
  EXPECT_EQ(result.status, IoStatus::kWouldBlock);
  EXPECT_EQ(client.Receive(taken).size(), taken) << "what was taken arrives";

  ASSERT_TRUE(Await(server, POLLOUT));
  EXPECT_EQ(server.Send("x").status, IoStatus::kBytes);
}

TEST(NonBlockingMode, MayBeSetBeforeThereIsADescriptor) {
  Socket socket;
  socket.SetNonBlocking();
  EXPECT_EQ(socket.GetFd(), -1);
  socket.Bind(NetAddress("127.0.0.1", 0));
  EXPECT_TRUE(IsNonBlocking(socket.GetFd()));
}

TEST_F(NonBlockingSocket, ConnectWaitsAllTheSame) {
  Socket client;
  client.SetNonBlocking();
  client.Connect(listener_.LocalAddress());
  EXPECT_TRUE(IsNonBlocking(client.GetFd()));
  EXPECT_EQ(client.Send("x").status, IoStatus::kBytes);
}

TEST(NonBlockingMode, ConnectSaysWhyItFailed) {
  Socket bound;  // has the port, but doesn't listen
  bound.Bind(NetAddress("127.0.0.1", 0));
  Socket client;
  client.SetNonBlocking();
  try {
    client.Connect(bound.LocalAddress());
    ADD_FAILURE() << "connected to nobody";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::connection_refused);
  }
}

TEST(NonBlockingMode, CanNotBeSetOnAClosedDescriptor) {
  Socket socket;
  socket.Bind(NetAddress("127.0.0.1", 0));
  UniqueFd fd = socket.Release();
  const int number = fd.Get();
  Socket borrowed{UniqueFd(number)};
  fd.Reset();
  EXPECT_THROW(borrowed.SetNonBlocking(), std::system_error);
  static_cast<void>(borrowed.Release().Release());
}

}  // namespace
}  // namespace TURTLE_SERVER
