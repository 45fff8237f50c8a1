// The kernel's report on this process.
#include "ops/process_figures.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "support/no_descriptors.h"

namespace TURTLE_SERVER {
namespace {

TEST(ProcessFiguresTest, EverySystemKnowsTimeAndTheLimit) {
  const ProcessFigures before = ReadProcessFigures();
  ASSERT_TRUE(before.cpu_seconds && before.max_descriptors);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(*before.max_descriptors, limit.rlim_cur);
  volatile std::uint64_t sum = 0;
  while (*ReadProcessFigures().cpu_seconds <= *before.cpu_seconds) {
    sum = sum + 1;
  }
  SUCCEED() << "time that we use is counted";
}

#ifdef __linux__
TEST(ProcessFiguresTest, DescriptorsAreCounted) {
  const ProcessFigures before = ReadProcessFigures();
  ASSERT_TRUE(before.open_descriptors);
  std::vector<UniqueFd> copies;
  for (int i = 0; i < 5; ++i) {
    copies.emplace_back(::dup(STDERR_FILENO));
  }
  EXPECT_EQ(*ReadProcessFigures().open_descriptors, *before.open_descriptors + 5);
  copies.clear();
  EXPECT_EQ(*ReadProcessFigures().open_descriptors, *before.open_descriptors);
}

TEST(ProcessFiguresTest, MemoryAndTheStartAreKnown) {
  const ProcessFigures figures = ReadProcessFigures();
  ASSERT_TRUE(figures.resident_bytes && figures.virtual_bytes && figures.start_time);
  EXPECT_GT(*figures.resident_bytes, 100'000U);
  EXPECT_GE(*figures.virtual_bytes, *figures.resident_bytes);
  EXPECT_LE(*figures.start_time, static_cast<double>(std::time(nullptr)) + 2);
  EXPECT_GT(*figures.start_time, static_cast<double>(std::time(nullptr)) - 3600);
  constexpr std::size_t kMuch = std::size_t{32} << 20;
  const std::vector<char> memory(kMuch, 'x');
  const char* const volatile used = memory.data();  // otherwise an optimiser would remove all of it
  EXPECT_GE(*ReadProcessFigures().resident_bytes, *figures.resident_bytes + kMuch / 2) << *used;
}

// /proc/stat is missing for a service that may see only processes.
TEST(ProcessFiguresTest, TheStartIsWhatTheSystemSaysAndStaysTheSame) {
  const ProcessFigures figures = ReadProcessFigures();
  ASSERT_TRUE(figures.start_time);
  std::ifstream file("/proc/stat");
  double boot = 0;
  for (std::string word; file >> word && word != "btime";) {
  }
  ASSERT_TRUE(file >> boot);
  EXPECT_GT(*figures.start_time, boot);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(*ReadProcessFigures().start_time, *figures.start_time);
  }
}
#endif

TEST(ProcessFiguresTest, WithoutADescriptorTheRestIsTold) {
  const test::NoDescriptors none;
  const ProcessFigures figures = ReadProcessFigures();
  EXPECT_TRUE(figures.cpu_seconds && figures.max_descriptors);
  EXPECT_FALSE(figures.open_descriptors || figures.resident_bytes || figures.start_time);
}

}  // namespace
}  // namespace TURTLE_SERVER
