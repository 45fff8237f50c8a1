#include "core/frames.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/connection.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using std::string_literals::operator""s;

TEST(Frames, AMessageStandsBehindItsLength) {
  const std::string bytes = "\0\0\0\5hello\0\0\0\1x"s;
  const Frame first = TakeFrame(bytes, 100);
  ASSERT_EQ(first.status, FrameStatus::kFrame);
  EXPECT_EQ(first.message, "hello");
  EXPECT_EQ(first.size, 9U);
  const Frame second = TakeFrame(std::string_view(bytes).substr(first.size), 100);
  ASSERT_EQ(second.status, FrameStatus::kFrame);
  EXPECT_EQ(second.message, "x");
}

TEST(Frames, NothingIsCopied) {
  const std::string bytes = "\0\0\0\5hello"s;
  EXPECT_EQ(TakeFrame(bytes, 100).message.data(), bytes.data() + 4);
}

TEST(Frames, UntilTheLastByteThereIsNoMessage) {
  const std::string bytes = "\0\0\0\5hello"s;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(TakeFrame(bytes.substr(0, size), 100).status, FrameStatus::kNeedMore) << size;
  }
}

TEST(Frames, AnEmptyMessageIsOne) {
  const Frame frame = TakeFrame("\0\0\0\0"s, 100);
  ASSERT_EQ(frame.status, FrameStatus::kFrame);
  EXPECT_EQ(frame.message, "");
  EXPECT_EQ(frame.size, 4U);
}

TEST(Frames, TheHighByteComesFirstAndEachCounts) {
  std::string bytes = "\0\1\2\3"s + std::string(66'051, 'm');
  EXPECT_EQ(TakeFrame(bytes, 100'000).message.size(), 66'051U);
  bytes = "\0\0\xff\xfe"s + std::string(0xfffe, 'm');
  EXPECT_EQ(TakeFrame(bytes, 100'000).message.size(), 0xfffeU);
}

TEST(Frames, TheLimitIsHeededAsSoonAsTheLengthIsThere) {
  EXPECT_EQ(TakeFrame("\0\0\0\6"s, 5).status, FrameStatus::kTooLong);
  EXPECT_EQ(TakeFrame("\0\0\0\5"s, 5).status, FrameStatus::kNeedMore);
  EXPECT_EQ(TakeFrame("\xff\xff\xff\xff"s, 5).status, FrameStatus::kTooLong);
  EXPECT_EQ(TakeFrame("\xff\xff\xff\xff"s, std::numeric_limits<std::size_t>::max()).status,
            FrameStatus::kNeedMore);
}

TEST(Frames, WhatIsWrittenIsTaken) {
  test::TcpPair pair = test::MakeTcpPair();
  Connection connection(std::move(pair.server));
  for (const std::string& message : {"hello"s, ""s, std::string(300, 'x')}) {
    WriteFrame(connection, message);
  }
  connection.Send();
  const std::string bytes = pair.client.Receive(4 + 5 + 4 + 4 + 300);
  std::string_view left = bytes;
  for (const std::string& message : {"hello"s, ""s, std::string(300, 'x')}) {
    const Frame frame = TakeFrame(left, 1000);
    ASSERT_EQ(frame.status, FrameStatus::kFrame);
    EXPECT_EQ(frame.message, message);
    left.remove_prefix(frame.size);
  }
  EXPECT_EQ(left, "");
}

TEST(Frames, ALengthThatDoesNotFitIsRefusedAndNothingIsQueued) {
  constexpr std::size_t kSize = std::size_t{std::numeric_limits<std::uint32_t>::max()} + 1;
  // Addresses without memory: they must not be read.
  void* const place = ::mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  test::TcpPair pair = test::MakeTcpPair();
  Connection connection(std::move(pair.server));
  try {
    WriteFrame(connection, {static_cast<const char*>(place), kSize});
    ADD_FAILURE() << "it was taken";
  } catch (const std::length_error& error) {
    EXPECT_STREQ(error.what(), "frame of 4294967296 bytes");
  }
  EXPECT_EQ(connection.UnsentBytes(), 0U);
  ::munmap(place, kSize);
}

}  // namespace
}  // namespace TURTLE_SERVER
