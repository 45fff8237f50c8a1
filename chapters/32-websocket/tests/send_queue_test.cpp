// The bytes that the kernel holds for a client.
#include "core/send_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::MakeTcpPair;
using test::TcpPair;

// The acknowledgement may come after the bytes.
auto AwaitEmpty(int socket) -> bool {
  const auto end = std::chrono::steady_clock::now() + test::kPatience;
  while (SendQueueBytes(socket) != 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  return SendQueueBytes(socket) == 0;
}

TEST(SendQueueTest, WhatTheClientsKernelHasIsNotInIt) {
  TcpPair pair = MakeTcpPair();
  EXPECT_EQ(SendQueueBytes(pair.server.GetFd()), 0U);
  ASSERT_EQ(pair.server.Send("twelve bytes").bytes, 12U);
  EXPECT_TRUE(AwaitEmpty(pair.server.GetFd()));  // though nobody has read them
}

TEST(SendQueueTest, TheRestIsInItUntilTheClientReads) {
  TcpPair pair = MakeTcpPair();
  const std::string text(std::size_t{64} * 1024, 'x');
  std::size_t sent = 0;
  for (IoResult result = pair.server.Send(text); result.status == IoStatus::kBytes;
       result = pair.server.Send(text)) {
    sent += result.bytes;
  }
  EXPECT_NE(SendQueueBytes(pair.server.GetFd()), 0U);
  EXPECT_LT(SendQueueBytes(pair.server.GetFd()), sent);
  EXPECT_EQ(pair.client.Receive(sent).size(), sent);
  EXPECT_TRUE(AwaitEmpty(pair.server.GetFd()));
}

TEST(SendQueueTest, WhatIsNoConnectionHasNone) { EXPECT_EQ(SendQueueBytes(-1), 0U); }

}  // namespace
}  // namespace TURTLE_SERVER
