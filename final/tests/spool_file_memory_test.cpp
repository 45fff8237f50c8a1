// The memory of a spool file that waits for its program.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "support/live_memory.h"
#include "web/spool_file.h"

namespace TURTLE_SERVER {
namespace {

TEST(SpoolFileMemoryTest, RewindGivesBackWhatThePiecesWereGatheredIn) {
  const std::ptrdiff_t before = test::live_bytes;
  SpoolFile file;
  ASSERT_EQ(file.Open(), 0);
  ASSERT_EQ(file.Write("small"), 0);
  ASSERT_GE(test::live_bytes - before, 4096) << "is it counted at all?";
  ASSERT_EQ(file.Rewind(), 0);
  EXPECT_EQ(test::live_bytes - before, 0) << "a program may run for long";
}

}  // namespace
}  // namespace TURTLE_SERVER
