// The ETag and the time of a file.
#include "files/file_validators.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <limits>
#include <string>

namespace TURTLE_SERVER {
namespace {

#ifdef __APPLE__
auto ContentTime(struct stat& status) -> timespec& { return status.st_mtimespec; }
auto InodeTime(struct stat& status) -> timespec& { return status.st_ctimespec; }
#else
auto ContentTime(struct stat& status) -> timespec& { return status.st_mtim; }
auto InodeTime(struct stat& status) -> timespec& { return status.st_ctim; }
#endif

constexpr long kMillisecond = 1'000'000;

class FileValidatorsTest : public testing::Test {
 protected:
  FileValidatorsTest() {
    status_.st_ino = 0x1234;
    status_.st_size = 0xabc;
    ContentTime(status_) = {1'000'000, 5};
    InodeTime(status_) = {1'000'000, 6};
  }

  auto IsStrong() const -> bool { return FileValidators(status_, now_).Get().strong; }

  auto Tag() const -> std::string {
    return std::string(FileValidators(status_, now_).Get().opaque_tag);
  }

  struct stat status_ {};
  timespec now_{2'000'000, 0};
};

TEST_F(FileValidatorsTest, TheTagTellsOneContentFromAnother) {
  const std::string tag = Tag();
  EXPECT_EQ(tag, "\"abc-38d7ea4c68005\"");
  ContentTime(status_).tv_nsec += 1;
  EXPECT_NE(Tag(), tag);
  ContentTime(status_).tv_nsec -= 1;
  status_.st_size += 1;
  EXPECT_NE(Tag(), tag);
  status_.st_size -= 1;
  EXPECT_EQ(Tag(), tag);
}

TEST_F(FileValidatorsTest, ACopyThatKeepsItsTimesHasTheSameTag) {
  const std::string tag = Tag();
  status_.st_ino += 1;
  status_.st_dev += 1;
  InodeTime(status_) = {1'500'000, 7};
  EXPECT_EQ(Tag(), tag);
  EXPECT_TRUE(IsStrong());
}

// Reproducible builds and some archives give all files the same time.
TEST_F(FileValidatorsTest, ATimeThatSaysNothingIsNotTrusted) {
  for (const time_t second : {0, 1, 315'532'802, 499'162'500, 946'684'800, 1'153'704'088}) {
    ContentTime(status_) = {second, 0};
    const std::string tag = Tag();
    InodeTime(status_).tv_nsec += 1;
    EXPECT_NE(Tag(), tag);
  }
}

TEST_F(FileValidatorsTest, StrongOnceTheClockHasMovedOn) {
  EXPECT_TRUE(IsStrong());
  InodeTime(status_) = {1'999'999, 990 * kMillisecond};  // 10 ms ago
  EXPECT_FALSE(IsStrong());
  now_ = {2'000'000, 10 * kMillisecond};  // a tick: the clock may not have moved on yet
  EXPECT_FALSE(IsStrong());
  now_ = {2'000'000, 10 * kMillisecond + 1};
  EXPECT_TRUE(IsStrong());
  now_ = {2'000'000, 20 * kMillisecond};
  EXPECT_TRUE(IsStrong());
  InodeTime(status_) = {2'000'001, 7};  // not yet
  EXPECT_FALSE(IsStrong());
}

TEST_F(FileValidatorsTest, ATimeAheadOfTheClockIsNoneOfTheLastWrite) {
  ContentTime(status_) = {3'000'000, 5};  // touch -d
  EXPECT_TRUE(IsStrong());
  InodeTime(status_) = {1'999'999, 990 * kMillisecond};  // just now
  EXPECT_FALSE(IsStrong());
  InodeTime(status_) = {3'000'000, 6};  // the clock of another machine
  EXPECT_FALSE(IsStrong());
}

TEST_F(FileValidatorsTest, AClockOfWholeSecondsNeedsLonger) {
  ContentTime(status_) = {1'999'999, 0};
  InodeTime(status_) = {1'999'999, 0};
  now_ = {2'000'000, 999 * kMillisecond};
  EXPECT_FALSE(IsStrong());
  now_ = {2'000'001, 1};
  EXPECT_TRUE(IsStrong());
}

TEST_F(FileValidatorsTest, ADateProvesNothingBeforeItsSecondIsOver) {
  const auto is_over = [&] { return FileValidators(status_, now_).Get().second_over; };
  EXPECT_TRUE(is_over());
  ContentTime(status_) = {1'999'999, 100 * kMillisecond};
  InodeTime(status_) = ContentTime(status_);
  now_ = {1'999'999, 999 * kMillisecond};
  EXPECT_TRUE(IsStrong());
  EXPECT_FALSE(is_over());
  now_ = {2'000'000, 10 * kMillisecond};  // the file system's clock may still be in the last one
  EXPECT_FALSE(is_over());
  now_ = {2'000'000, 21 * kMillisecond};
  EXPECT_TRUE(is_over());
  ContentTime(status_).tv_nsec = 0;  // a clock of two seconds
  EXPECT_FALSE(is_over());
  now_.tv_sec += 1;
  EXPECT_TRUE(is_over());
  ContentTime(status_).tv_sec = 3'000'000;
  EXPECT_FALSE(is_over());
}

TEST_F(FileValidatorsTest, LastModifiedIsNeverInTheFuture) {
  EXPECT_EQ(FileValidators(status_, now_).Get().last_modified, HttpTime(1'000'000));
  ContentTime(status_).tv_sec = 3'000'000;
  EXPECT_EQ(FileValidators(status_, now_).Get().last_modified, HttpTime(2'000'000));
}

// 64 bits of nanoseconds end in 2262, and a file system may keep any 64 bits of seconds.
TEST_F(FileValidatorsTest, TimesBeyondAllNanosecondsAreTimesToo) {
  constexpr auto kLast = std::numeric_limits<time_t>::max();
  constexpr auto kFirst = std::numeric_limits<time_t>::min();
  for (const time_t future : {time_t{9'223'372'037}, time_t{32'503'680'000}, kLast}) {
    ContentTime(status_) = {future, 5};
    EXPECT_TRUE(IsStrong()) << future;
    EXPECT_EQ(FileValidators(status_, now_).Get().last_modified, HttpTime(now_.tv_sec)) << future;
    const std::string tag = Tag();
    ContentTime(status_).tv_nsec += 1;
    EXPECT_NE(Tag(), tag) << future;
  }
  for (const time_t past : {time_t{-9'223'372'037}, time_t{-32'503'680'000}, kFirst}) {
    ContentTime(status_) = {past, 5};
    EXPECT_TRUE(IsStrong()) << past;
    InodeTime(status_) = {past, 6};
    EXPECT_TRUE(IsStrong()) << past;
    EXPECT_EQ(FileValidators(status_, now_).Get().last_modified, HttpTime(past)) << past;
    InodeTime(status_) = {1'000'000, 6};
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
