#include "core/block_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <new>
#include <random>
#include <string>

#include "support/pattern.h"

namespace {

// Of the whole program.
std::size_t allocated = 0;           // blocks of memory that are there
std::size_t made = 0;                // that were ever made
std::size_t left = ~std::size_t{0};  // so many more can be had

}  // namespace

auto operator new(std::size_t size) -> void* {
  void* const memory = left == 0 ? nullptr : std::malloc(size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  --left;
  ++allocated;
  ++made;
  return memory;
}

void operator delete(void* memory) noexcept {
  allocated -= memory == nullptr ? 0 : 1;
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }

namespace TURTLE_SERVER {
namespace {

constexpr std::size_t kBlock = BlockQueue::kBlockSize;

// All that is there.
auto Text(const BlockQueue& queue) -> std::string {
  std::array<iovec, 64> pieces;
  const std::size_t count = queue.Pieces(pieces.data(), pieces.size());
  std::string all;
  for (std::size_t i = 0; i < count; ++i) {
    all.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
  }
  return all;
}

TEST(BlockQueue, GivesBackWhatItWasGiven) {
  BlockQueue queue;
  EXPECT_EQ(queue.Size(), 0U);
  EXPECT_EQ(Text(queue), "");
  queue.Append("hello, ");
  queue.Append("");
  queue.Append("world");
  EXPECT_EQ(queue.Size(), 12U);
  EXPECT_EQ(Text(queue), "hello, world");
  queue.Consume(5);
  EXPECT_EQ(Text(queue), ", world");
  queue.Consume(100);
  EXPECT_EQ(queue.Size(), 0U);
  EXPECT_EQ(Text(queue), "");
}

TEST(BlockQueue, IsWhatAStringWouldBe) {
  BlockQueue queue;
  std::string model;
  const std::string source = test::Pattern(100'000);
  std::mt19937 random(7);
  for (int step = 0; step < 5'000; ++step) {
    if (model.size() < 300'000 && random() % 2 == 0) {
      const std::size_t size = random() % (random() % 4 == 0 ? 60'000 : 300);
      const std::size_t from = random() % (source.size() - size);
      queue.Append(std::string_view(source).substr(from, size));
      model.append(source, from, size);
    } else {
      const std::size_t count = random() % 50'000;
      queue.Consume(count);
      model.erase(0, count);
    }
    ASSERT_EQ(queue.Size(), model.size()) << step;
    if (step % 50 == 0) {
      ASSERT_TRUE(Text(queue) == model) << step;
    }
  }
}

TEST(BlockQueue, ShowsNoMorePiecesThanThereIsRoomFor) {
  BlockQueue queue;
  queue.Append(std::string(5 * kBlock, 'x'));
  std::array<iovec, 8> pieces{};
  EXPECT_EQ(queue.Pieces(pieces.data(), 2), 2U);
  EXPECT_EQ(pieces[0].iov_len + pieces[1].iov_len, 2 * kBlock);
  EXPECT_EQ(pieces[2].iov_base, nullptr);
  EXPECT_EQ(queue.Pieces(pieces.data(), 8), 5U);
}

TEST(BlockQueue, WhatIsThereStaysWhereItIs) {
  BlockQueue queue;
  queue.Append("first");
  iovec before{};
  ASSERT_EQ(queue.Pieces(&before, 1), 1U);
  queue.Append(std::string(20 * kBlock, 'x'));
  iovec after{};
  ASSERT_EQ(queue.Pieces(&after, 1), 1U);
  EXPECT_EQ(after.iov_base, before.iov_base);
  EXPECT_EQ(std::string(static_cast<const char*>(before.iov_base), 5), "first");
}

TEST(BlockQueue, InSteadyStateNothingIsAllocated) {
  BlockQueue queue;
  const std::string reply(3'000, 'x');
  queue.Append(reply);
  queue.Consume(reply.size());
  const std::size_t before = made;
  for (int i = 0; i < 1'000; ++i) {
    queue.Append(reply);
    queue.Append(reply);
    queue.Consume(2 * reply.size());
  }
  EXPECT_EQ(made, before);
}

TEST(BlockQueue, GivesMemoryBackButForOneBlock) {
  const std::size_t before = allocated;
  {
    BlockQueue queue;
    queue.Append(std::string(100 * kBlock, 'x'));
    EXPECT_GE(allocated, before + 100);
    queue.Consume(99 * kBlock);
    EXPECT_LE(allocated, before + 4) << "one in use, one kept, and what holds them";
    queue.Consume(kBlock);
    EXPECT_LE(allocated, before + 3);
  }
  EXPECT_EQ(allocated, before);
}

TEST(BlockQueue, AfterItsFirstUseItOwnsNothingUntilThen) {
  const std::size_t before = allocated;
  const BlockQueue queue;
  EXPECT_EQ(allocated, before);
}

TEST(BlockQueue, WithoutMemoryNothingIsAppended) {
  const std::string text = test::Pattern(10 * kBlock);
  for (std::size_t can = 0; can < 12; ++can) {
    BlockQueue queue;
    queue.Append("before");
    left = can;
    bool thrown = false;
    try {
      queue.Append(text);
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    left = ~std::size_t{0};
    EXPECT_EQ(Text(queue), thrown ? "before" : "before" + text) << can;
    EXPECT_TRUE(thrown || can >= 9) << can;
    queue.Append("after");
    queue.Consume(6);
    EXPECT_EQ(queue.Size(), 5 + (thrown ? 0 : text.size()));
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
