#ifdef __linux__

#include "uring/ring.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/unique_fd.h"
#include "support/needs_io_uring.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNoWait{0};

class RingTest : public testing::Test {
 protected:
  struct Done {
    std::uint64_t name;
    int result;
    unsigned flags;
  };

  void SetUp() override {
    TURTLE_NEEDS_IO_URING();
    ring_ = std::make_unique<Ring>();
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    ours_.Reset(ends[0]);
    theirs_.Reset(ends[1]);
  }

  void Nothing(std::uint64_t name) {
    ASSERT_TRUE(ring_->HasRoom(1));
    io_uring_sqe& submission = ring_->Next();
    submission.opcode = IORING_OP_NOP;
    submission.user_data = name;
  }

  // Submits one receive for all that arrives.
  void ReceiveAll(std::uint64_t name) {
    ASSERT_TRUE(ring_->HasRoom(1));
    io_uring_sqe& submission = ring_->Next();
    submission.opcode = IORING_OP_RECV;
    submission.fd = ours_.Get();
    submission.flags = IOSQE_BUFFER_SELECT;
    submission.ioprio = IORING_RECV_MULTISHOT;
    submission.user_data = name;
  }

  auto Reap() -> std::vector<Done> {
    std::vector<Done> all;
    ring_->Reap([&](const io_uring_cqe& done) {
      all.push_back({done.user_data, done.res, done.flags});
    });
    return all;
  }

  std::unique_ptr<Ring> ring_;
  UniqueFd ours_;
  UniqueFd theirs_;
};

TEST_F(RingTest, EachRequestIsToldOfByItsName) {
  Nothing(7);
  Nothing(8);
  EXPECT_FALSE(ring_->HasOwner());
  EXPECT_TRUE(Reap().empty()) << "nothing was handed over";
  ring_->Enter(kNoWait);
  EXPECT_TRUE(ring_->HasOwner());
  const std::vector<Done> done = Reap();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].name, 7U);
  EXPECT_EQ(done[1].name, 8U);
  EXPECT_TRUE(Reap().empty()) << "each once";
}

TEST_F(RingTest, WhatIsWithdrawnNeverHappens) {
  Nothing(7);
  const std::uint32_t first = ring_->Last();
  Nothing(8);
  EXPECT_TRUE(ring_->Withdraw(first));
  ring_->Enter(kNoWait);
  const std::vector<Done> done = Reap();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].name, 8U);
  EXPECT_FALSE(ring_->Withdraw(first)) << "it is too late";
}

TEST_F(RingTest, HandsOverWhenThereIsNoRoom) {
  ring_->Enter(kNoWait);  // this thread owns it
  for (unsigned i = 0; i < 3 * Ring::kSubmissions; ++i) {
    Nothing(i);
  }
  ring_->Enter(kNoWait);
  const std::vector<Done> done = Reap();
  ASSERT_EQ(done.size(), 3 * Ring::kSubmissions);
  for (unsigned i = 0; i < done.size(); ++i) {
    ASSERT_EQ(done[i].name, i);
  }
}

TEST_F(RingTest, WithoutAnOwnerThereIsNoMoreRoom) {
  for (unsigned i = 0; i < Ring::kSubmissions; ++i) {
    Nothing(i);
  }
  EXPECT_FALSE(ring_->HasRoom(1));
}

// More completions than the queue has entries: the kernel keeps them.
TEST_F(RingTest, LosesNoCompletion) {
  constexpr unsigned kMany = Ring::kCompletions + 2 * Ring::kSubmissions;
  ring_->Enter(kNoWait);
  for (unsigned i = 0; i < kMany; ++i) {
    Nothing(i);
  }
  std::size_t count = 0;
  for (int round = 0; round < 10 && count < kMany; ++round) {
    ring_->Enter(kNoWait);
    count += Reap().size();
  }
  EXPECT_EQ(count, kMany);
}

TEST_F(RingTest, OneRequestReceivesAllThatComes) {
  ReceiveAll(5);
  ring_->Enter(kNoWait);
  EXPECT_TRUE(Reap().empty());
  for (const std::string_view text : {"hello", "again"}) {
    ASSERT_EQ(::send(theirs_.Get(), text.data(), text.size(), 0), 5);
    ring_->Enter(std::nullopt);
    const std::vector<Done> done = Reap();
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].name, 5U);
    EXPECT_TRUE(done[0].flags & IORING_CQE_F_MORE);
    ASSERT_TRUE(done[0].flags & IORING_CQE_F_BUFFER);
    const unsigned buffer = done[0].flags >> IORING_CQE_BUFFER_SHIFT;
    EXPECT_EQ(std::string_view(ring_->Buffer(buffer), 5), text);
    ring_->GiveBack(buffer);
  }
}

TEST_F(RingTest, BuffersThatAreNotGivenBackRunOut) {
  ReceiveAll(5);
  unsigned taken = 0;
  std::vector<Done> done;
  for (unsigned i = 0; i <= Ring::kBufferCount && (done.empty() || done.back().result > 0); ++i) {
    ASSERT_EQ(::send(theirs_.Get(), "x", 1, 0), 1);
    ring_->Enter(std::nullopt);
    done = Reap();
    ASSERT_EQ(done.size(), 1U);
    taken += done[0].result > 0 ? 1 : 0;
  }
  EXPECT_EQ(taken, Ring::kBufferCount);
  ASSERT_FALSE(done.empty());
  EXPECT_EQ(done.back().result, -ENOBUFS);
  EXPECT_FALSE(done.back().flags & IORING_CQE_F_MORE) << "and the request has ended";
  ring_->GiveBack(3);
  ReceiveAll(6);
  ring_->Enter(std::nullopt);
  done = Reap();
  ASSERT_FALSE(done.empty());
  EXPECT_EQ(done[0].flags >> IORING_CQE_BUFFER_SHIFT, 3U);
}

TEST_F(RingTest, WaitsNoLongerThanItShould) {
  ring_->Enter(milliseconds(1));
  ring_->Enter(milliseconds(-5));  // in the past, which is not forever
  EXPECT_TRUE(Reap().empty());
}

}  // namespace
}  // namespace TURTLE_SERVER

#endif  // __linux__
