// The bytes that the other end of a connection has acknowledged.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "core/tcp.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::MakeTcpPair;
using test::TcpPair;

TEST(AcknowledgedTest, BytesThatWereReadAreCounted) {
  TcpPair pair = MakeTcpPair();
  const std::uint32_t before = AcknowledgedBytes(pair.server.GetFd());
  ASSERT_EQ(pair.server.Send("twelve bytes").bytes, 12U);
  EXPECT_EQ(pair.client.Receive(12), "twelve bytes");
  // The acknowledgement may come after the bytes.
  const auto end = std::chrono::steady_clock::now() + test::kPatience;
  while (AcknowledgedBytes(pair.server.GetFd()) - before != 12 &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_EQ(AcknowledgedBytes(pair.server.GetFd()) - before, 12U);
}

TEST(AcknowledgedTest, BytesThatLieInTheSocketAreNot) {
  TcpPair pair = MakeTcpPair();
  const std::uint32_t before = AcknowledgedBytes(pair.server.GetFd());
  const std::string text(std::size_t{64} * 1024, 'x');
  std::size_t sent = 0;
  for (;;) {
    const IoResult result = pair.server.Send(text);
    if (result.status != IoStatus::kBytes) {
      break;
    }
    sent += result.bytes;
  }
  EXPECT_LT(AcknowledgedBytes(pair.server.GetFd()) - before, sent);
}

TEST(AcknowledgedTest, EachByteCountsOnce) {
  TcpPair pair = MakeTcpPair();
  std::uint32_t before = 0;
  std::uint32_t counted = AcknowledgedSince(pair.server.GetFd(), before);
  for (const std::string_view text : {"twelve bytes", "and ten"}) {
    ASSERT_EQ(pair.server.Send(text).bytes, text.size());
    EXPECT_EQ(pair.client.Receive(text.size()), text);
    counted = 0;
    const auto end = std::chrono::steady_clock::now() + test::kPatience;
    while (counted < text.size() && std::chrono::steady_clock::now() < end) {
      counted += AcknowledgedSince(pair.server.GetFd(), before);
      std::this_thread::yield();
    }
    EXPECT_EQ(counted, text.size());
  }
}

TEST(AcknowledgedTest, WhatIsNoConnectionSaysZero) { EXPECT_EQ(AcknowledgedBytes(-1), 0U); }

}  // namespace
}  // namespace TURTLE_SERVER
