#include "core/block_pool.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace TURTLE_SERVER {
namespace {

TEST(BlockPoolTest, GivesBackTheBlockThatWasUsedLast) {
  void* const first = BlockPool::Take();
  void* const second = BlockPool::Take();
  EXPECT_NE(first, second);
  BlockPool::Give(first);
  BlockPool::Give(second);
  EXPECT_EQ(BlockPool::Take(), second);
  EXPECT_EQ(BlockPool::Take(), first);
  BlockPool::Give(first);
  BlockPool::Give(second);
}

TEST(BlockPoolTest, BlocksAreWholeAlignedAndDistinct) {
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 10; ++i) {
    void* const block = BlockPool::Take();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t), 0U);
    std::memset(block, static_cast<int>(i), BlockPool::kBlockBytes);
    blocks.push_back(block);
  }
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto* const bytes = static_cast<const unsigned char*>(blocks[i]);
    EXPECT_EQ(bytes[0], i);
    EXPECT_EQ(bytes[BlockPool::kBlockBytes - 1], i);
    BlockPool::Give(blocks[i]);
  }
}

TEST(BlockPoolTest, KeepsABoundedNumber) {
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 3 * BlockPool::kMaxKept; ++i) {
    blocks.push_back(BlockPool::Take());
  }
  EXPECT_EQ(BlockPool::Kept(), 0U);
  for (void* const block : blocks) {
    BlockPool::Give(block);
  }
  EXPECT_EQ(BlockPool::Kept(), BlockPool::kMaxKept);
}

TEST(BlockPoolTest, EveryThreadHasItsOwnAndABlockMayChangeHands) {
  BlockPool::Give(BlockPool::Take());
  const std::size_t here = BlockPool::Kept();
  std::size_t there = 1;
  void* block = nullptr;
  std::thread([&] {
    there = BlockPool::Kept();
    block = BlockPool::Take();
  }).join();
  EXPECT_EQ(there, 0U);
  EXPECT_EQ(BlockPool::Kept(), here);
  void* const mine = BlockPool::Take();
  std::thread([&] { BlockPool::Give(mine); }).join();  // a leak checker sees what is not freed
  BlockPool::Give(block);
  EXPECT_EQ(BlockPool::Kept(), here);
}

// A connection in a static object gives its block back after the thread's pool has ended.
class GivesLate {
 public:
  ~GivesLate() { BlockPool::Give(block_); }

 private:
  void* block_ = BlockPool::Take();
};
GivesLate gives_late;

}  // namespace
}  // namespace TURTLE_SERVER
