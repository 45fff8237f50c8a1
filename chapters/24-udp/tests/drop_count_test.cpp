#include "udp/drop_count.h"

#include <gtest/gtest.h>

namespace TURTLE_SERVER {
namespace {

TEST(DropCount, GoesOnWhereTheKernelBeginsAnew) {
  DropCount drops;
  drops.Note(5);
  drops.Note(5);
  EXPECT_EQ(drops.Total(), 5U);
  drops.Note(3);
  EXPECT_EQ(drops.Total(), 5U) << "told late: it came with a datagram";
  drops.Note(0x7FFFFFFFU);
  drops.Note(0xFFFFFFFEU);
  EXPECT_EQ(drops.Total(), 0xFFFFFFFEU);
  drops.Note(2);  // four more
  EXPECT_EQ(drops.Total(), 0x100000002U);
  drops.Note(0xFFFFFFFEU);
  EXPECT_EQ(drops.Total(), 0x100000002U) << "told late, by the old count";
}

}  // namespace
}  // namespace TURTLE_SERVER
