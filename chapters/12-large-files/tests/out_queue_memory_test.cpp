// How often OutQueue calls the allocator.
#include <gtest/gtest.h>

#include <string>

#include "core/block_pool.h"
#include "core/out_queue.h"
#include "support/counting_new.h"
#include "support/narrow_pair.h"

namespace TURTLE_SERVER {
namespace {

class Cached : public Pinned {
 public:
  std::string text = test::Pattern(3000);
};

TEST(OutQueueMemoryTest, RepliesCostNoAllocationInSteadyState) {
  test::counts_allocations = true;
  test::NarrowPair pair;
  const std::string head = test::Pattern(200);
  const auto cached = MakePinned<Cached>();
  const FileSlice file = OwnFileSlice(test::MakeFile(head), 0, head.size());
  std::string arrived(10'000, '\0');
  OutQueue queue;
  std::size_t before = 0;
  for (int round = 0; round < 200; ++round) {
    if (round == 1) {
      before = test::allocations;  // the first round has filled the pool
      ASSERT_GT(before, 0U);
    }
    for (int i = 0; i < 2; ++i) {
      queue.Append(head);
      queue.AppendPinned(cached->text, cached);
      queue.AppendFile(file);
    }
    while (!queue.Empty()) {
      const IoResult sent = queue.FlushTo(pair.sender, false);
      ASSERT_NE(sent.status, IoStatus::kError);
      for (std::size_t got = 0; got < sent.bytes;) {
        const IoResult result = pair.reader.Recv(arrived.data(), arrived.size());
        ASSERT_EQ(result.status, IoStatus::kBytes);
        got += result.bytes;
      }
    }
  }
  EXPECT_EQ(test::allocations, before);
}

TEST(OutQueueMemoryTest, ASmallReplyBorrowsOneBlock) {
  test::counts_allocations = true;
  BlockPool::Give(BlockPool::Take());
  const std::size_t kept = BlockPool::Kept();
  const std::size_t before = test::allocations;
  ASSERT_GT(before, 0U);
  OutQueue queue;
  queue.Append("HTTP/1.1 204 No Content\r\n\r\n");
  queue.AppendPinned("body", Pin());
  EXPECT_EQ(BlockPool::Kept(), kept - 1);
  queue.Clear();
  EXPECT_EQ(BlockPool::Kept(), kept);
  EXPECT_EQ(test::allocations, before);
}

}  // namespace
}  // namespace TURTLE_SERVER
