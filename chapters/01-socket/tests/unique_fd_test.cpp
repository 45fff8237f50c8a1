#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace TURTLE_SERVER {
namespace {

auto OpenOne() -> int { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

auto IsOpen(int fd) -> bool { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFd, OwnsNothingAtFirst) {
  const UniqueFd none;
  EXPECT_EQ(none.Get(), -1);
  EXPECT_FALSE(none);
  EXPECT_FALSE(UniqueFd(-7));
  EXPECT_EQ(UniqueFd(-7).Get(), -1) << "every negative number is the same nothing";
}

TEST(UniqueFd, ZeroIsADescriptorToo) {
  UniqueFd zero(0);
  EXPECT_TRUE(zero);
  EXPECT_EQ(zero.Release(), 0);
}

TEST(UniqueFd, ClosesWhenItGoes) {
  const int number = OpenOne();
  {
    const UniqueFd fd(number);
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(UniqueFd, ReleaseHandsTheOwnershipOver) {
  const int number = OpenOne();
  {
    UniqueFd fd(number);
    EXPECT_EQ(fd.Release(), number);
    EXPECT_FALSE(fd);
  }
  EXPECT_TRUE(IsOpen(number));
  ::close(number);
}

TEST(UniqueFd, ResetClosesTheOldOneOnly) {
  const int first = OpenOne();
  const int second = OpenOne();
  UniqueFd fd(first);
  fd.Reset(second);
  EXPECT_FALSE(IsOpen(first));
  EXPECT_TRUE(IsOpen(second));
  fd.Reset(second);
  EXPECT_TRUE(IsOpen(second)) << "what it owns already stays open";
  fd.Reset();
  EXPECT_FALSE(IsOpen(second));
}

TEST(UniqueFd, MoveAssignmentClosesOnceAndNotTwice) {
  const int first = OpenOne();
  const int second = OpenOne();
  int next = -1;
  {
    UniqueFd a(first);
    UniqueFd b(second);
    a = std::move(b);
    EXPECT_FALSE(IsOpen(first));
    EXPECT_EQ(a.Get(), second);
    next = OpenOne();  // gets the number that `a` has just closed
    EXPECT_EQ(next, first);
  }
  EXPECT_FALSE(IsOpen(second));
  EXPECT_TRUE(IsOpen(next)) << "somebody closed a number that was not theirs any more";
  ::close(next);
}

TEST(UniqueFd, SelfMoveIsHarmless) {
  const int number = OpenOne();
  UniqueFd fd(number);
  UniqueFd& same = fd;
  fd = std::move(same);
  EXPECT_EQ(fd.Get(), number);
  EXPECT_TRUE(IsOpen(number));
}

TEST(UniqueFdDeathTest, ADescriptorClosedByOthersIsNotPassedOver) {
  const int number = OpenOne();
  EXPECT_DEATH(
      {
        const UniqueFd fd(number);
        ::close(number);
      },
      "");
  ::close(number);
}

}  // namespace
}  // namespace TURTLE_SERVER
