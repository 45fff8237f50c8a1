#include "core/pass_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/connection.h"
#include "core/looper.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/loop_thread.h"
#include "support/no_descriptors.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::TcpPair;

// Two ends of a channel.
struct Channel {
  UniqueFd one;
  UniqueFd other;
};

auto MakeChannel(int type = SOCK_STREAM) -> Channel {
  int ends[2];
  if (::socketpair(AF_UNIX, type, 0, ends) != 0) {
    return {};
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// The number that the next descriptor of this process would get: a lost one raises it.
auto NextNumber() -> int { return UniqueFd(::dup(STDERR_FILENO)).Get(); }

// A message of a stranger, with so many descriptors.
void SendMany(int channel, std::size_t count) {
  char byte = 'x';
  iovec data{&byte, 1};
  std::vector<int> fds(count, STDERR_FILENO);
  std::vector<char> control(CMSG_SPACE(count * sizeof(int)));
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (count != 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), count * sizeof(int));
  }
  ASSERT_EQ(::sendmsg(channel, &message, 0), 1);
}

TEST(PassDescriptor, WhatArrivesIsTheSameConnection) {
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const Channel channel = MakeChannel(type);
    TcpPair pair = test::MakeTcpPair();
    ASSERT_TRUE(pair.client.Send("before "));
    ASSERT_EQ(SendDescriptor(channel.one.Get(), pair.server.GetFd()), 0);
    pair.server = Socket();  // closed here, and on its way
    ASSERT_TRUE(pair.client.Send("after"));
    ReceivedDescriptor received = ReceiveDescriptor(channel.other.Get());
    ASSERT_EQ(received.error, 0);
    ASSERT_TRUE(received.fd);
    const ConnectionCallbacks callbacks{{}, test::Echo};
    test::LoopThread loop;
    loop.Ask([&] { loop.Get().AddConnection(std::move(received.fd), callbacks); });
    Client client = std::move(pair.client);  // destroyed before the loop
    EXPECT_EQ(client.Receive(12), "before after");
  }
}

TEST(PassDescriptor, AnotherProcessServesTheClient) {
  Channel channel = MakeChannel();
  TcpPair pair = test::MakeTcpPair();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    channel.one.Reset();
    pair.server = Socket();
    const ReceivedDescriptor received = ReceiveDescriptor(channel.other.Get());
    const std::string words = "from next door";
    const ssize_t sent = ::send(received.fd.Get(), words.data(), words.size(), 0);
    ::_exit(sent == static_cast<ssize_t>(words.size()) ? 0 : 1);
  }
  channel.other.Reset();
  EXPECT_EQ(SendDescriptor(channel.one.Get(), pair.server.GetFd()), 0);
  pair.server = Socket();
  channel.one.Reset();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(pair.client.ReceiveAll(), "from next door");
}

TEST(PassDescriptor, SeveralArriveInTheirOrder) {
  const Channel channel = MakeChannel();
  std::vector<TcpPair> pairs;
  for (int i = 0; i < 5; ++i) {
    pairs.push_back(test::MakeTcpPair());
    ASSERT_EQ(SendDescriptor(channel.one.Get(), pairs.back().server.GetFd()), 0);
  }
  for (TcpPair& pair : pairs) {
    const ReceivedDescriptor received = ReceiveDescriptor(channel.other.Get());
    ASSERT_EQ(::send(received.fd.Get(), "you", 3, 0), 3);
    EXPECT_EQ(pair.client.Receive(3), "you");
  }
}

TEST(PassDescriptor, ItIsNotInheritedByPrograms) {
  const Channel channel = MakeChannel();
  ASSERT_EQ(SendDescriptor(channel.one.Get(), STDERR_FILENO), 0);
  const ReceivedDescriptor received = ReceiveDescriptor(channel.other.Get());
  ASSERT_TRUE(received.fd);
  EXPECT_EQ(::fcntl(received.fd.Get(), F_GETFD), FD_CLOEXEC);
}

TEST(PassDescriptor, TheEndIsNoDescriptorAndNoError) {
  Channel channel = MakeChannel();
  ASSERT_EQ(SendDescriptor(channel.one.Get(), STDERR_FILENO), 0);
  channel.one.Reset();
  EXPECT_TRUE(ReceiveDescriptor(channel.other.Get()).fd) << "what was sent before the end";
  const ReceivedDescriptor end = ReceiveDescriptor(channel.other.Get());
  EXPECT_FALSE(end.fd);
  EXPECT_EQ(end.error, 0);
}

TEST(PassDescriptor, NobodyOnTheOtherSideIsAnErrorAndNoSignal) {
  Channel channel = MakeChannel();
  channel.other.Reset();
  EXPECT_EQ(SendDescriptor(channel.one.Get(), STDERR_FILENO), EPIPE);
  EXPECT_EQ(SendDescriptor(channel.one.Get(), 1'000'000), EBADF);
}

// It is never received, and not open elsewhere: the kernel closes it with the channel.
TEST(PassDescriptor, WhatIsOnItsWayGoesWithTheChannel) {
  Channel channel = MakeChannel();
  TcpPair pair = test::MakeTcpPair();
  ASSERT_EQ(SendDescriptor(channel.one.Get(), pair.server.GetFd()), 0);
  pair.server = Socket();
  channel.one.Reset();
  EXPECT_EQ(pair.client.Receive(1, std::chrono::milliseconds(0)), "");
  EXPECT_FALSE(pair.client.Ended()) << "it is still on its way";
  channel.other.Reset();
  EXPECT_EQ(pair.client.ReceiveAll(), "");
  EXPECT_TRUE(pair.client.Ended());
}

TEST(PassDescriptor, ANonBlockingChannelSaysSo) {
  const Channel channel = MakeChannel();
  for (const UniqueFd* end : {&channel.one, &channel.other}) {
    ::fcntl(end->Get(), F_SETFL, O_NONBLOCK);
  }
  test::ShrinkSendBuffer(channel.one.Get());
  EXPECT_EQ(ReceiveDescriptor(channel.other.Get()).error, EAGAIN);
  int sent = 0;
  int error = 0;
  while (sent < 100'000 && (error = SendDescriptor(channel.one.Get(), STDERR_FILENO)) == 0) {
    ++sent;
  }
  EXPECT_EQ(error, EAGAIN) << "after " << sent;
  for (int i = 0; i < sent; ++i) {
    ASSERT_TRUE(ReceiveDescriptor(channel.other.Get()).fd) << i;
  }
  EXPECT_EQ(ReceiveDescriptor(channel.other.Get()).error, EAGAIN);
}

TEST(PassDescriptor, AMessageWithoutOneIsNone) {
  const Channel channel = MakeChannel();
  SendMany(channel.one.Get(), 0);
  ASSERT_EQ(SendDescriptor(channel.one.Get(), STDERR_FILENO), 0);
  const ReceivedDescriptor received = ReceiveDescriptor(channel.other.Get());
  EXPECT_EQ(received.error, EPROTO);
  EXPECT_FALSE(received.fd);
  EXPECT_TRUE(ReceiveDescriptor(channel.other.Get()).fd);
}

// A stranger's gifts must not fill the table.
TEST(PassDescriptor, OfAMessageWithSeveralNoneStaysOpen) {
  const Channel channel = MakeChannel();
  const int before = NextNumber();
  for (const std::size_t count : {2U, 3U, 10U, 250U}) {
    SendMany(channel.one.Get(), count);
    const ReceivedDescriptor received = ReceiveDescriptor(channel.other.Get());
    EXPECT_EQ(received.error, EPROTO) << count;
    EXPECT_FALSE(received.fd);
    EXPECT_EQ(NextNumber(), before) << "of " << count;
  }
}

TEST(PassDescriptor, WithoutANumberForItItIsLostAndThatIsSaid) {
  const Channel channel = MakeChannel();
  TcpPair pair = test::MakeTcpPair();
  ASSERT_EQ(SendDescriptor(channel.one.Get(), pair.server.GetFd()), 0);
  pair.server = Socket();
  {
    const test::NoDescriptors full;
    const ReceivedDescriptor received = ReceiveDescriptor(channel.other.Get());
    EXPECT_EQ(received.error, EMFILE);
    EXPECT_FALSE(received.fd);
  }
  EXPECT_EQ(pair.client.ReceiveAll(), "");
  EXPECT_TRUE(pair.client.Ended()) << "the client is told";
  ASSERT_EQ(SendDescriptor(channel.one.Get(), STDERR_FILENO), 0);
  EXPECT_TRUE(ReceiveDescriptor(channel.other.Get()).fd) << "the next one is not lost";
}

}  // namespace
}  // namespace TURTLE_SERVER
