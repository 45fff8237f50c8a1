// An edge is reported only once. Events that Wait() has fetched must not be lost when memory runs
// out.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <set>
#include <system_error>
#include <vector>

#include "base/unique_fd.h"
#include "core/poller.h"
#include "support/failing_new.h"

namespace TURTLE_SERVER {
namespace {

// A pipe whose reading end is ready.
struct FullPipe {
  FullPipe() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    read_end.Reset(ends[0]);
    write_end.Reset(ends[1]);
    EXPECT_EQ(::write(write_end.Get(), "x", 1), 1);
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

// More pipes than are fetched at once.
constexpr std::size_t kPipes = 200;

auto TokensOf(const std::vector<PollEvent>& events) -> std::set<std::uint64_t> {
  std::set<std::uint64_t> tokens;
  for (const PollEvent& event : events) {
    tokens.insert(event.token);
  }
  return tokens;
}

TEST(PollerMemoryTest, NoEdgeIsLostWhenThereIsNoMemoryToFetchMore) {
  for (std::size_t first = 1; first <= 3; ++first) {
    const std::vector<FullPipe> pipes(kPipes);
    const auto poller = Poller::Create();
    for (std::size_t i = 0; i < kPipes; ++i) {
      poller->Add(pipes[i].read_end.Get(), Interest::kRead | Interest::kEdge, i);
    }
    std::set<std::uint64_t> told;
    for (std::size_t round = 0; round < kPipes; ++round) {
      test::FailAllocations(first, 1000);
      const auto& events = poller->Wait(std::chrono::milliseconds(0));
      test::StopFailing();
      told.merge(TokensOf(events));
    }
    EXPECT_EQ(told.size(), kPipes) << "when allocation " << first << " fails";
  }
}

TEST(PollerMemoryTest, MoreAreFetchedWhenThereIsMemoryAgain) {
  const std::vector<FullPipe> pipes(kPipes);
  const auto poller = Poller::Create();
  for (std::size_t i = 0; i < kPipes; ++i) {
    poller->Add(pipes[i].read_end.Get(), Interest::kRead, i);
  }
  test::FailAllocations(1, 1000);
  const std::size_t few = poller->Wait(std::chrono::milliseconds(0)).size();
  EXPECT_GT(test::StopFailing(), 0U);
  EXPECT_LT(few, kPipes);
  std::size_t most = 0;
  for (int round = 0; round < 10 && most < kPipes; ++round) {
    most = poller->Wait(std::chrono::milliseconds(0)).size();
  }
  EXPECT_EQ(most, kPipes);
}

}  // namespace
}  // namespace TURTLE_SERVER
