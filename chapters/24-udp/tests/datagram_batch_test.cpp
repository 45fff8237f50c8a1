#include "udp/datagram_batch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace TURTLE_SERVER {
namespace {

const NetAddress kPeer("127.0.0.1", 9);

TEST(DatagramBatch, HoldsAsManyAsItWasMadeFor) {
  DatagramBatch batch(2, 8);
  EXPECT_EQ(batch.Capacity(), 2U);
  EXPECT_EQ(batch.MaxPayload(), 8U);
  EXPECT_TRUE(batch.Empty());
  EXPECT_TRUE(batch.Add("one", kPeer));
  EXPECT_FALSE(batch.Full());
  EXPECT_TRUE(batch.Add("two", kPeer));
  EXPECT_TRUE(batch.Full());
  EXPECT_FALSE(batch.Add("three", kPeer));
  EXPECT_EQ(batch.Size(), 2U);
  EXPECT_EQ(batch[0].payload, "one");
  EXPECT_EQ(batch[1].payload, "two");
  EXPECT_EQ(batch[1].peer, kPeer);
}

TEST(DatagramBatch, APayloadMayFillItsRoomAndNotExceedIt) {
  DatagramBatch batch(2, 8);
  EXPECT_FALSE(batch.Add("123456789", kPeer));
  EXPECT_TRUE(batch.Empty());
  EXPECT_TRUE(batch.Add("12345678", kPeer));
  EXPECT_EQ(batch[0].payload, "12345678");
}

TEST(DatagramBatch, AnEmptyPayloadIsADatagram) {
  DatagramBatch batch(1, 8);
  EXPECT_TRUE(batch.Add({}, kPeer));
  ASSERT_EQ(batch.Size(), 1U);
  EXPECT_EQ(batch[0].payload, "");
  EXPECT_EQ(batch[0].size, 0U);
  EXPECT_FALSE(batch[0].truncated);
}

TEST(DatagramBatch, ARingKeepsTheOrder) {
  DatagramBatch batch(3, 8);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(batch.Add(std::to_string(i), kPeer));
  }
  batch.DropFront(2);
  ASSERT_TRUE(batch.Add("3", kPeer));
  ASSERT_TRUE(batch.Add("4", kPeer));  // lies before the first
  EXPECT_FALSE(batch.Add("5", kPeer));
  ASSERT_EQ(batch.Size(), 3U);
  EXPECT_EQ(batch[0].payload, "2");
  EXPECT_EQ(batch[1].payload, "3");
  EXPECT_EQ(batch[2].payload, "4");
  batch.DropFront(99);
  EXPECT_TRUE(batch.Empty());
}

TEST(DatagramBatch, AnEmptyOneBeginsAtItsFirstSlotAgain) {
  DatagramBatch batch(3, 8);
  ASSERT_TRUE(batch.Add("a", kPeer));
  const char* const first = batch[0].payload.data();
  batch.DropFront(1);
  ASSERT_TRUE(batch.Add("b", kPeer));
  EXPECT_EQ(batch[0].payload.data(), first);
}

TEST(DatagramBatch, RefusesSizesThatMakeNoSense) {
  EXPECT_THROW(DatagramBatch(0, 8), std::invalid_argument);
  EXPECT_THROW(DatagramBatch(8, 0), std::invalid_argument);
  EXPECT_THROW(DatagramBatch(SIZE_MAX / 2, 3), std::invalid_argument);
}

}  // namespace
}  // namespace TURTLE_SERVER
