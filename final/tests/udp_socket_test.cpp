#include "udp/udp_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <set>
#include <string>
#include <system_error>

#include "support/needs_ipv6.h"
#include "support/udp_client.h"
#include "udp/udp_calls.h"

namespace TURTLE_SERVER {
namespace {

using test::AwaitDatagram;
using test::UdpClient;

auto BoundTo(const std::string& host, PortSharing sharing = PortSharing::kExclusive, int port = 0)
    -> UdpSocket {
  UdpSocket socket;
  socket.Bind(NetAddress(host, port), sharing);
  return socket;
}

// Returns the error's text, without the reason, which the C library words.
template <typename Action>
auto ErrorOf(Action action) -> std::string {
  try {
    action();
  } catch (const std::system_error& error) {
    const std::string text = error.what();
    return text.substr(0, text.rfind(": "));
  }
  return "no error";
}

// Everything is tested with both families.
class UdpSocketTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "::1") {
      TURTLE_NEEDS_IPV6();
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Families, UdpSocketTest, testing::Values("127.0.0.1", "::1"),
                         [](const auto& family) {
                           return std::string(family.index == 0 ? "Ipv4" : "Ipv6");
                         });

TEST_P(UdpSocketTest, ADatagramComesWithItsSender) {
  UdpSocket server = BoundTo(GetParam());
  EXPECT_NE(server.LocalAddress().Port(), 0);
  UdpClient client(server.LocalAddress());
  ASSERT_TRUE(client.Send("hello"));
  std::array<char, 16> bytes;
  NetAddress peer;
  const ReceiveResult result = server.Receive(bytes.data(), bytes.size(), peer);
  ASSERT_EQ(result.status, IoStatus::kBytes);
  EXPECT_EQ(std::string(bytes.data(), result.bytes), "hello");
  EXPECT_EQ(result.size, 5U);
  EXPECT_FALSE(result.truncated);
  EXPECT_EQ(peer, client.Address());
  ASSERT_EQ(server.Send("and to you", peer).status, IoStatus::kBytes);
  EXPECT_EQ(client.Receive(), "and to you");
}

TEST_P(UdpSocketTest, ADatagramOfLengthZeroIsOne) {
  UdpSocket server = BoundTo(GetParam());
  UdpClient client(server.LocalAddress());
  ASSERT_TRUE(client.Send(""));
  ASSERT_TRUE(client.Send("x"));
  std::array<char, 4> bytes;
  NetAddress peer;
  ReceiveResult result = server.Receive(bytes.data(), bytes.size(), peer);
  EXPECT_EQ(result.status, IoStatus::kBytes) << "not the end, and not nothing";
  EXPECT_EQ(result.bytes, 0U);
  EXPECT_EQ(peer, client.Address());
  result = server.Receive(bytes.data(), bytes.size(), peer);
  EXPECT_EQ(result.bytes, 1U);
  result = server.Receive(bytes.data(), bytes.size(), peer);
  EXPECT_EQ(result.status, IoStatus::kWouldBlock);
}

TEST_P(UdpSocketTest, BoundariesAreKept) {
  UdpSocket server = BoundTo(GetParam());
  UdpClient client(server.LocalAddress());
  for (const char* each : {"a", "", "bcd"}) {
    ASSERT_TRUE(client.Send(each));
  }
  DatagramBatch batch(8, 16);
  const BatchResult result = server.ReceiveMany(batch);
  ASSERT_EQ(result.status, IoStatus::kBytes);
  ASSERT_EQ(result.count, 3U);
  EXPECT_EQ(batch[0].payload, "a");
  EXPECT_EQ(batch[1].payload, "");
  EXPECT_EQ(batch[2].payload, "bcd");
  EXPECT_EQ(batch[2].peer, client.Address());
  EXPECT_EQ(server.ReceiveMany(batch).status, IoStatus::kWouldBlock);
  EXPECT_TRUE(batch.Empty());
}

TEST_P(UdpSocketTest, TheLargestComesWholeAndALargerOneIsRefused) {
  const bool v6 = std::string(GetParam()) == "::1";
  const std::size_t largest = v6 ? 65527 : kMaxUdpPayload;
  UdpSocket server = BoundTo(GetParam());
  UdpClient client(server.LocalAddress());
  const std::string text(largest, 'x');
  ASSERT_TRUE(client.Send(text));
  DatagramBatch batch(2, largest);
  ASSERT_EQ(server.ReceiveMany(batch).count, 1U);
  EXPECT_EQ(batch[0].payload, text);
  EXPECT_FALSE(batch[0].truncated);

  const IoResult refused = client.Get().Send(text + "x");
  EXPECT_EQ(refused.status, IoStatus::kError);
  EXPECT_EQ(refused.error, EMSGSIZE);
  EXPECT_TRUE(client.Send("as before"));
}

TEST_P(UdpSocketTest, WhatDoesNotFitIsCutAndSaysSo) {
  UdpSocket server = BoundTo(GetParam());
  UdpClient client(server.LocalAddress());
  for (const char* each : {"1234", "12345", "123456789"}) {
    ASSERT_TRUE(client.Send(each));
  }
  DatagramBatch batch(8, 4);
  ASSERT_EQ(server.ReceiveMany(batch).count, 3U);
  EXPECT_FALSE(batch[0].truncated);
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(batch[i].payload, "1234");
    EXPECT_TRUE(batch[i].truncated);
  }
#ifdef __linux__
  EXPECT_EQ(batch[1].size, 5U);
  EXPECT_EQ(batch[2].size, 9U);
#endif
  ASSERT_TRUE(client.Send("12345"));
  std::array<char, 4> bytes;
  NetAddress peer;
  const ReceiveResult one = server.Receive(bytes.data(), bytes.size(), peer);
  EXPECT_TRUE(one.truncated);
  EXPECT_EQ(one.bytes, 4U);
}

TEST_P(UdpSocketTest, ABatchTakesWhatFitsAndLeavesTheRest) {
  UdpSocket server = BoundTo(GetParam());
  UdpClient client(server.LocalAddress());
  // 64 of them are one system call, so these are several: full batches, and a few more.
  constexpr std::size_t kBatch = 130;
  for (std::size_t i = 0; i < kBatch + 3; ++i) {
    ASSERT_TRUE(client.Send(std::to_string(i)));
  }
  DatagramBatch batch(kBatch, 8);
  ASSERT_EQ(server.ReceiveMany(batch).count, kBatch);
  EXPECT_TRUE(batch.Full());
  for (std::size_t i = 0; i < kBatch; ++i) {
    ASSERT_EQ(batch[i].payload, std::to_string(i));
  }
  ASSERT_EQ(server.ReceiveMany(batch).count, 3U);
  EXPECT_EQ(batch[0].payload, std::to_string(kBatch));
}

TEST_P(UdpSocketTest, ABatchIsSentWholeEvenIfItIsLargerThanACall) {
  UdpSocket server = BoundTo(GetParam());
  UdpClient client(server.LocalAddress());
  DatagramBatch batch(130, 8);
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(batch.Add("gone", server.LocalAddress()));
  }
  batch.DropFront(3);  // the ring begins in the middle, and reaches around
  while (!batch.Full()) {
    ASSERT_TRUE(batch.Add(std::to_string(batch.Size()), client.Address()));
  }
  std::size_t sent = 0;
  while (!batch.Empty()) {
    const BatchResult result = server.SendMany(batch);
    ASSERT_EQ(result.status, IoStatus::kBytes);
    sent += result.count;
  }
  EXPECT_EQ(sent, 130U);
  for (std::size_t i = 2; i < 130; ++i) {
    ASSERT_EQ(client.Receive(), std::to_string(i));
  }
}

TEST_P(UdpSocketTest, AFailureInABatchIsOfItsFirstDatagramAlone) {
  UdpSocket server = BoundTo(GetParam());
  UdpClient client(server.LocalAddress());
  DatagramBatch batch(4, 100'000);
  ASSERT_TRUE(batch.Add("before", client.Address()));
  ASSERT_TRUE(batch.Add(std::string(100'000, 'x'), client.Address()));
  ASSERT_TRUE(batch.Add("after", client.Address()));
  EXPECT_EQ(server.SendMany(batch).count, 1U);
  const BatchResult failed = server.SendMany(batch);
  EXPECT_EQ(failed.status, IoStatus::kError);
  EXPECT_EQ(failed.error, EMSGSIZE);
  ASSERT_EQ(batch.Size(), 2U) << "it is still there";
  batch.DropFront(1);
  EXPECT_EQ(server.SendMany(batch).count, 1U);
  EXPECT_EQ(client.Receive(), "before");
  EXPECT_EQ(client.Receive(), "after");
  EXPECT_EQ(server.SendMany(batch).status, IoStatus::kWouldBlock) << "nothing is no success";
}

TEST_P(UdpSocketTest, NobodyThereIsAnErrorOfOneDatagramToTheConnected) {
  UdpSocket gone = BoundTo(GetParam());
  const NetAddress nobody = gone.LocalAddress();
  gone = UdpSocket();
  UdpClient client(nobody);
  ASSERT_TRUE(client.Send("anybody?"));
  ASSERT_TRUE(AwaitDatagram(client.Get()));  // readable: the response is an error
  DatagramBatch batch(4, 16);
  const BatchResult refused = client.Get().ReceiveMany(batch);
  EXPECT_EQ(refused.status, IoStatus::kError);
  EXPECT_EQ(refused.error, ECONNREFUSED);
  EXPECT_EQ(client.Get().ReceiveMany(batch).status, IoStatus::kWouldBlock) << "told once";

  UdpSocket back = BoundTo(GetParam(), PortSharing::kExclusive, nobody.Port());
  ASSERT_TRUE(client.Send("and now?"));
  EXPECT_EQ(back.ReceiveMany(batch).count, 1U) << "the same socket reaches who has come";
}

TEST_P(UdpSocketTest, NobodyThereIsNoErrorToTheUnconnected) {
  UdpSocket gone = BoundTo(GetParam());
  const NetAddress nobody = gone.LocalAddress();
  gone = UdpSocket();
  UdpSocket server = BoundTo(GetParam());
  UdpClient client(server.LocalAddress());
  EXPECT_EQ(server.Send("anybody?", nobody).status, IoStatus::kBytes);
  ASSERT_TRUE(client.Send("me"));
  DatagramBatch batch(4, 16);
  EXPECT_EQ(server.ReceiveMany(batch).count, 1U);
  EXPECT_EQ(server.Send("you", client.Address()).status, IoStatus::kBytes);
  EXPECT_EQ(client.Receive(), "you");
}

TEST_P(UdpSocketTest, TheConnectedHearsNobodyElse) {
  UdpSocket server = BoundTo(GetParam());
  UdpSocket stranger = BoundTo(GetParam());
  UdpClient client(server.LocalAddress());
  ASSERT_EQ(stranger.Send("psst", client.Address()).status, IoStatus::kBytes);
  ASSERT_EQ(server.Send("hello", client.Address()).status, IoStatus::kBytes);
  EXPECT_EQ(client.Receive(), "hello");
  EXPECT_EQ(client.Receive(std::chrono::milliseconds(0)), std::nullopt);
}

TEST_P(UdpSocketTest, TellsTheAddressThatWasAsked) {
  UdpSocket server = BoundTo(std::string(GetParam()) == "::1" ? "::" : "0.0.0.0");
  ASSERT_TRUE(server.ReportDestination());
  const int port = server.LocalAddress().Port();
  UdpClient client(NetAddress(GetParam(), port));
  ASSERT_TRUE(client.Send("hello"));
  DatagramBatch batch(2, 16);
  ASSERT_EQ(server.ReceiveMany(batch).count, 1U);
  EXPECT_EQ(batch[0].local, NetAddress(GetParam(), port));
}

TEST_P(UdpSocketTest, ASecondServerFailsToStart) {
  UdpSocket server = BoundTo(GetParam());
  UdpSocket second;
  const NetAddress local = server.LocalAddress();
  EXPECT_EQ(ErrorOf([&] { second.Bind(local); }), "bind " + local.ToString());
  EXPECT_EQ(second.GetFd(), -1);
  EXPECT_NE(ErrorOf([&] { second.Bind(local, PortSharing::kBalanced); }), "no error")
      << "sharing takes two";
  second.Bind(NetAddress(GetParam(), 0));
  EXPECT_NE(second.LocalAddress(), local);
}

TEST_P(UdpSocketTest, OneSenderStaysWithOneOfThoseWhoShare) {
  UdpSocket first;
  try {
    first = BoundTo(GetParam(), PortSharing::kBalanced);
  } catch (const std::system_error& error) {
    GTEST_SKIP() << error.what();  // a system that can't
  }
  UdpSocket second = BoundTo(GetParam(), PortSharing::kBalanced, first.LocalAddress().Port());
  UdpClient client(first.LocalAddress());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client.Send("x"));
  }
  DatagramBatch batch(32, 8);
  const std::size_t to_first = first.ReceiveMany(batch).count;
  const std::size_t to_second = second.ReceiveMany(batch).count;
  EXPECT_EQ(to_first + to_second, 20U);
  EXPECT_TRUE(to_first == 0 || to_second == 0) << to_first << " and " << to_second;
}

TEST(UdpSocket, BothFamiliesSideBySide) {
  const UdpSocket v4 = BoundTo("0.0.0.0");
  const int port = v4.LocalAddress().Port();
  UdpSocket v6;
  v6.Bind(NetAddress("::", port));  // throws if :: took IPv4, too
  EXPECT_EQ(v6.LocalAddress().ToString(), "[::]:" + std::to_string(port));
}

TEST(UdpSocket, IsClosedOnExecAndNeverBlocks) {
  const UdpSocket socket = BoundTo("127.0.0.1");
  EXPECT_NE(::fcntl(socket.GetFd(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(::fcntl(socket.GetFd(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(UdpSocket, ABlockingOneThatIsTakenOverDoesNotBlockEither) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
  UdpSocket one{UniqueFd(pair[0])};
  const UniqueFd other(pair[1]);
  DatagramBatch batch(4, 8);
  EXPECT_EQ(one.ReceiveMany(batch).status, IoStatus::kWouldBlock);
  IoResult sent = one.Send("x");
  for (int i = 0; i < 100'000 && sent.status == IoStatus::kBytes; ++i) {
    sent = one.Send("x");
  }
  EXPECT_EQ(sent.status, IoStatus::kWouldBlock);
}

TEST(UdpSocket, SendsWithoutHavingBeenBound) {
  UdpSocket server = BoundTo("127.0.0.1");
  UdpSocket client;
  EXPECT_EQ(client.Send("hello", server.LocalAddress()).status, IoStatus::kBytes);
  DatagramBatch batch(1, 8);
  ASSERT_EQ(server.ReceiveMany(batch).count, 1U);
  EXPECT_EQ(batch[0].peer.Port(), client.LocalAddress().Port());
}

TEST(UdpSocket, RepliesFromTheAddressThatItIsTold) {
#ifndef __linux__
  GTEST_SKIP() << "127.0.0.2 is an address of this host on Linux only";
#endif
  UdpSocket server = BoundTo("0.0.0.0");
  ASSERT_TRUE(server.ReportDestination());
  const int port = server.LocalAddress().Port();
  UdpClient client(NetAddress("127.0.0.2", port));  // hears nobody else
  ASSERT_TRUE(client.Send("hello"));
  DatagramBatch batch(2, 16);
  ASSERT_EQ(server.ReceiveMany(batch).count, 1U);
  EXPECT_EQ(batch[0].local, NetAddress("127.0.0.2", port));
  DatagramBatch replies(2, 16);
  ASSERT_TRUE(replies.Add("wrong", batch[0].peer, NetAddress("127.0.0.3", 0)));
  ASSERT_TRUE(replies.Add("right", batch[0].peer, batch[0].local));
  EXPECT_EQ(server.SendMany(replies).count, 2U);
  EXPECT_EQ(client.Receive(), "right");
}

TEST(UdpSocket, AScopeComesWithALinkLocalAddress) {
  // Loopback has no link-local address, so this is about the spelling: the scope of a name is kept.
  UdpSocket socket;
  const std::string text = ErrorOf([&] { socket.Bind(NetAddress("fe80::1%lo", 0)); });
  EXPECT_TRUE(text == "bind [fe80::1%lo]:0" || text == "no error") << text;
}

TEST(UdpSocket, ErrorsNameTheAddress) {
  UdpSocket socket;
  EXPECT_EQ(ErrorOf([&] { socket.Bind(NetAddress("192.0.2.1", 9)); }), "bind 192.0.2.1:9");
  EXPECT_EQ(ErrorOf([&] { socket.Bind(NetAddress("2001:db8::1", 9)); }), "bind [2001:db8::1]:9");
  UdpSocket connected;
  EXPECT_EQ(ErrorOf([&] { connected.Connect(NetAddress("255.255.255.255", 9)); }),
            "connect 255.255.255.255:9");
  EXPECT_NE(ErrorOf([&] { static_cast<void>(UdpSocket().LocalAddress()); }), "no error");
  EXPECT_NE(ErrorOf([&] { UdpSocket().SetReceiveBuffer(1); }), "no error");
}

TEST(UdpSocket, WithoutADescriptorNothingIsMoved) {
  UdpSocket none;
  DatagramBatch batch(1, 8);
  NetAddress peer;
  char byte;
  EXPECT_EQ(none.Receive(&byte, 1, peer).error, EBADF);
  EXPECT_EQ(none.ReceiveMany(batch).error, EBADF);
  EXPECT_FALSE(none.ReportDestination());
  EXPECT_FALSE(none.ReportDrops());
  EXPECT_EQ(none.KernelDrops(), std::nullopt);
}

#ifdef __linux__
TEST(UdpSocket, WhatFindsNoRoomIsCounted) {
  UdpSocket server = BoundTo("127.0.0.1");
  const std::size_t room = server.SetReceiveBuffer(1);  // the kernel has a smallest
  EXPECT_GE(room, 1U);
  ASSERT_TRUE(server.ReportDrops());
  EXPECT_EQ(server.KernelDrops(), 0U);
  UdpClient client(server.LocalAddress());
  constexpr std::size_t kSent = 500;
  for (std::size_t i = 0; i < kSent; ++i) {
    ASSERT_TRUE(client.Send("the sender is never told"));
  }
  DatagramBatch batch(kSent, 32);
  std::size_t received = server.ReceiveMany(batch).count;
  EXPECT_GT(received, 0U);
  ASSERT_LT(received, kSent);
  EXPECT_EQ(server.KernelDrops(), kSent - received);
  EXPECT_EQ(batch.KernelDrops(), 0U) << "those that came had not been dropped before yet";
  ASSERT_TRUE(client.Send("the next one brings the news"));
  ASSERT_EQ(server.ReceiveMany(batch).count, 1U);
  EXPECT_EQ(batch.KernelDrops(), kSent - received);
}

TEST(UdpSocket, TheKernelTakesAsMuchRoomAsItMay) {
  UdpSocket socket = BoundTo("127.0.0.1");
  const std::size_t small = socket.SetReceiveBuffer(8192);
  const std::size_t large = socket.SetReceiveBuffer(65536);
  EXPECT_EQ(small, 2U * 8192U);
  EXPECT_GT(large, small);
  EXPECT_GT(socket.SetReceiveBuffer(SIZE_MAX), 0U);
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
