// The heap of the connections' deadlines.
#include "core/deadline_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace TURTLE_SERVER {
namespace {

constexpr TimePoint kStart{std::chrono::hours(5)};

auto At(int ms) -> TimePoint { return kStart + std::chrono::milliseconds(ms); }

TEST(DeadlineHeap, HasNothingToSayAtFirst) {
  DeadlineHeap heap;
  EXPECT_EQ(heap.Next(), std::nullopt);
  EXPECT_FALSE(heap.PopDue(TimePoint::max()));
}

TEST(DeadlineHeap, GivesTheEarliestThatIsDue) {
  DeadlineHeap heap;
  heap.Push({At(20), 2});
  heap.Push({At(10), 1});
  EXPECT_EQ(heap.Next(), At(10));
  EXPECT_FALSE(heap.PopDue(At(9)));
  const auto due = heap.PopDue(At(10));
  ASSERT_TRUE(due);
  EXPECT_EQ(due->fd, 1);
  EXPECT_EQ(due->when, At(10));
  EXPECT_FALSE(heap.PopDue(At(10)));
  EXPECT_EQ(heap.Next(), At(20));
}

TEST(DeadlineHeap, KeepsEveryOneOfEqualEntries) {
  DeadlineHeap heap;
  for (const int fd : {4, 5, 6, 4}) {
    heap.Push({At(10), fd});
  }
  std::vector<int> fds;
  while (const auto due = heap.PopDue(At(10))) {
    fds.push_back(due->fd);
  }
  std::sort(fds.begin(), fds.end());
  EXPECT_EQ(fds, (std::vector<int>{4, 4, 5, 6}));
}

TEST(DeadlineHeap, StaysInOrderWhilePushesAndPopsMix) {
  DeadlineHeap heap;
  std::vector<int> left;  // the same, kept the simple way
  std::uint32_t random = 1;
  for (int i = 0; i < 2000; ++i) {
    random = random * 1664525U + 1013904223U;
    const int ms = static_cast<int>(random >> 20);
    if (i % 3 != 2) {
      heap.Push({At(ms), ms});
      left.push_back(ms);
      continue;
    }
    const auto earliest = std::min_element(left.begin(), left.end());
    const auto due = heap.PopDue(At(ms));
    ASSERT_EQ(due.has_value(), *earliest <= ms);
    if (due) {
      ASSERT_EQ(due->fd, *earliest);
      left.erase(earliest);
    }
  }
  std::sort(left.begin(), left.end());
  for (const int ms : left) {
    ASSERT_EQ(heap.Next(), At(ms));
    ASSERT_EQ(heap.PopDue(TimePoint::max())->fd, ms);
  }
  EXPECT_EQ(heap.Next(), std::nullopt);
}

}  // namespace
}  // namespace TURTLE_SERVER
