#include "core/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "support/pattern.h"

namespace TURTLE_SERVER {
namespace {

TEST(Buffer, StartsEmptyAndOwnsNothing) {
  const Buffer buffer;
  EXPECT_TRUE(buffer.Empty());
  EXPECT_EQ(buffer.Size(), 0U);
  EXPECT_EQ(buffer.View().data(), nullptr);
}

TEST(Buffer, GivesBackWhatWasPutIn) {
  Buffer buffer;
  buffer.Append("one ");
  buffer.Append("two ");
  buffer.Append("three");
  EXPECT_EQ(buffer.View(), "one two three");
  buffer.Consume(4);
  EXPECT_EQ(buffer.View(), "two three");
  EXPECT_EQ(buffer.Size(), 9U);
}

TEST(Buffer, KeepsZerosAndAppendsNothingAsNothing) {
  Buffer buffer;
  buffer.Append("");
  EXPECT_EQ(buffer.View().data(), nullptr);
  const std::string with_zeros("a\0b\0", 4);
  buffer.Append(with_zeros);
  buffer.Append("");
  EXPECT_EQ(buffer.View(), with_zeros);
}

TEST(Buffer, OwnsNothingOnceAllIsConsumed) {
  Buffer buffer;
  buffer.Append(test::Pattern(100000));
  buffer.Consume(99999);
  EXPECT_EQ(buffer.Size(), 1U);
  buffer.Consume(1);
  EXPECT_TRUE(buffer.Empty());
  EXPECT_EQ(buffer.View().data(), nullptr);
}

TEST(Buffer, ConsumesAllWhenToldToConsumeMore) {
  Buffer buffer;
  buffer.Consume(7);
  EXPECT_TRUE(buffer.Empty());
  buffer.Append("abc");
  buffer.Consume(4);
  EXPECT_TRUE(buffer.Empty());
}

TEST(Buffer, ClearsAndCanBeUsedAgain) {
  Buffer buffer;
  buffer.Append("abc");
  buffer.Clear();
  EXPECT_TRUE(buffer.Empty());
  buffer.Append("def");
  EXPECT_EQ(buffer.View(), "def");
}

TEST(Buffer, TakesBytesWithoutACopy) {
  Buffer buffer;
  buffer.Append("head ");
  char* room = buffer.Prepare(1000);
  std::memcpy(room, "body and more", 13);
  EXPECT_EQ(buffer.View(), "head ") << "prepared room is not data yet";
  buffer.Commit(4);
  EXPECT_EQ(buffer.View(), "head body");
}

TEST(Buffer, PreparedRoomThatStaysUnusedIsGivenBack) {
  Buffer buffer;
  static_cast<void>(buffer.Prepare(1000));
  buffer.Commit(0);
  EXPECT_EQ(buffer.View().data(), nullptr);
}

TEST(Buffer, MovesItsBytes) {
  Buffer from;
  from.Append("abc");
  Buffer to = std::move(from);
  EXPECT_EQ(to.View(), "abc");
  from = Buffer();
  from.Append("def");
  EXPECT_EQ(from.View(), "def");
  EXPECT_EQ(to.View(), "abc");
}

// Compares it with a model that is slow and plainly right.
TEST(Buffer, BehavesLikeAStringThatIsErasedAtTheFront) {
  std::mt19937 random(7);
  const std::string source = test::Pattern(20000);
  Buffer buffer;
  std::string model;
  for (int step = 0; step < 20000; ++step) {
    const std::size_t count = random() % (step % 100 == 0 ? source.size() : 300);
    switch (random() % 4) {
      case 0:
        buffer.Append({source.data(), count});
        model.append(source, 0, count);
        break;
      case 1: {
        const std::size_t used = count / 2;
        std::memcpy(buffer.Prepare(count), source.data(), used);
        buffer.Commit(used);
        model.append(source, 0, used);
        break;
      }
      default:
        buffer.Consume(count);
        model.erase(0, count);
    }
    ASSERT_EQ(buffer.Size(), model.size()) << "step " << step;
    ASSERT_TRUE(buffer.View() == model) << "step " << step;
  }
}

// A queue that always holds a little, like that of a client that can't quite keep up. The rest must
// not be moved again for every byte that is taken from the front.
TEST(Buffer, MovesNoByteMoreThanOncePerByteThatPassesThrough) {
  const std::string piece = test::Pattern(1000);
  Buffer buffer;
  buffer.Append(test::Pattern(10 * piece.size()));
  std::size_t passed = buffer.Size();
  std::size_t moved = 0;
  while (passed < 10'000'000) {
    const char* front = buffer.View().data();
    buffer.Consume(piece.size());
    ASSERT_EQ(buffer.View().data(), front + piece.size()) << "taking from the front moves nothing";
    const std::size_t left = buffer.Size();
    buffer.Append(piece);
    moved += buffer.View().data() == front + piece.size() ? 0 : left;
    passed += piece.size();
  }
  EXPECT_GT(moved, 0U) << "or the buffer would grow without end";
  EXPECT_LE(moved, passed);
}

}  // namespace
}  // namespace TURTLE_SERVER
