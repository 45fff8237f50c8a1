#include "base/sigpipe_block.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {
namespace {

auto IsBlocked() -> bool {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, SIGPIPE) == 1;
}

// Returns the writing end of a pipe that nobody reads.
auto BrokenPipe() -> UniqueFd {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  return UniqueFd(ends[1]);
}

auto FailsWithEpipe(const UniqueFd& pipe) -> bool {
  return write(pipe.Get(), "x", 1) == -1 && errno == EPIPE;
}

TEST(SigpipeBlockTest, TheSignalOfABrokenPipeIsTakenAway) {
  const UniqueFd pipe = BrokenPipe();
  {
    const SigpipeBlock block;
    EXPECT_TRUE(IsBlocked());
    EXPECT_TRUE(FailsWithEpipe(pipe));
    block.TakeAway();
  }
  EXPECT_FALSE(IsBlocked());  // and this program continues
}

TEST(SigpipeBlockTest, ABlockInABlockChangesNothing) {
  const UniqueFd pipe = BrokenPipe();
  const SigpipeBlock outer;
  {
    const SigpipeBlock inner;
    EXPECT_TRUE(FailsWithEpipe(pipe));
    inner.TakeAway();
  }
  EXPECT_TRUE(IsBlocked());
}

// In its own process, because nothing can undo it.
TEST(SigpipeBlockDeathTest, WhereTheProcessIgnoresItNothingIsBlocked) {
  const auto run = [] {
    IgnoreSigpipe();
    const UniqueFd pipe = BrokenPipe();
    const SigpipeBlock block;
    const bool quiet = !IsBlocked() && FailsWithEpipe(pipe);
    block.TakeAway();
    std::_Exit(quiet ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
