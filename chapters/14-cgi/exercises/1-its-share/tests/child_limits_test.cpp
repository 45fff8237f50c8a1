// The resources that a program may use up.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "process/child_process.h"
#include "process/pipe_io.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

// ChildOptions with the limits that the exercise adds. It compiles before they are there, too, and
// then says so.
template <typename Options>
auto LimitTime(Options& options, std::uint64_t seconds, int)
    -> decltype(void(options.max_cpu_seconds = seconds)) {
  options.max_cpu_seconds = seconds;
}

template <typename Options>
void LimitTime(Options&, std::uint64_t, ...) {
  ADD_FAILURE() << "ChildOptions has no max_cpu_seconds";
}

template <typename Options>
auto LimitMemory(Options& options, std::uint64_t bytes, int)
    -> decltype(void(options.max_memory_bytes = bytes)) {
  options.max_memory_bytes = bytes;
}

template <typename Options>
void LimitMemory(Options&, std::uint64_t, ...) {
  ADD_FAILURE() << "ChildOptions has no max_memory_bytes";
}

// Runs a shell command. @return its output
auto RunShell(const std::string& script, ChildOptions options) -> std::string {
  const UniqueFd folder(::open("/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Pipe output;
  EXPECT_EQ(OpenPipe(PipeMode::kNonBlockingRead, output), 0);
  options.directory_fd = folder.Get();
  options.program = "sh";
  options.arguments = {"-c", script};
  options.stdout_fd = output.write_end.Get();
  ChildProcess child;
  const SpawnResult started = child.Start(options);
  EXPECT_TRUE(started) << started.ToString();
  output.write_end.Reset();
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    std::array<char, 4096> piece;
    const IoResult result = ReadPipe(output.read_end.Get(), piece.data(), piece.size());
    if (result.status == IoStatus::kBytes) {
      text.append(piece.data(), result.bytes);
    } else if (result.status == IoStatus::kWouldBlock) {
      pollfd waiting{output.read_end.Get(), POLLIN, 0};
      ::poll(&waiting, 1, static_cast<int>(test::kPatience.count()));
    } else {
      return text;
    }
  }
  ADD_FAILURE() << "no end of the output";
  return text;
}

auto LimitOf(int resource) -> rlimit {
  rlimit limit{};
  EXPECT_EQ(::getrlimit(static_cast<decltype(RLIMIT_CPU)>(resource), &limit), 0);
  return limit;
}

// As `ulimit` prints it.
auto Text(rlim_t value, rlim_t unit = 1) -> std::string {
  return value == RLIM_INFINITY ? "unlimited\n" : std::to_string(value / unit) + "\n";
}

TEST(ChildLimitsTest, TimeOfTheProcessor) {
  ChildOptions options;
  LimitTime(options, 7, 0);
  EXPECT_EQ(RunShell("ulimit -H -t; ulimit -S -t", options), "7\n7\n");
}

TEST(ChildLimitsTest, Memory) {
  ChildOptions options;
  LimitMemory(options, std::uint64_t{512} * 1024 * 1024, 0);
  EXPECT_EQ(RunShell("ulimit -H -v; ulimit -S -v", options), "524288\n524288\n");
}

TEST(ChildLimitsTest, TheLimitOfFilesIsStillOne) {
  ChildOptions options;
  options.max_open_files = 20;
  LimitTime(options, 7, 0);
  LimitMemory(options, std::uint64_t{512} * 1024 * 1024, 0);
  EXPECT_EQ(RunShell("ulimit -n; ulimit -t; ulimit -v", options), "20\n7\n524288\n");
}

TEST(ChildLimitsTest, WithoutALimitItIsAsWithUs) {
  EXPECT_EQ(RunShell("ulimit -H -t; ulimit -S -v; ulimit -S -n", {}),
            Text(LimitOf(RLIMIT_CPU).rlim_max) + Text(LimitOf(RLIMIT_AS).rlim_cur, 1024) +
                Text(LimitOf(RLIMIT_NOFILE).rlim_cur));
}

TEST(ChildLimitsTest, NobodyLeavesACoreFile) {
  rlimit core = LimitOf(RLIMIT_CORE);
  core.rlim_cur = core.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &core), 0);
  EXPECT_EQ(RunShell("ulimit -H -c; ulimit -S -c", {}), "0\n0\n");
  core.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &core), 0);
}

TEST(ChildLimitsTest, OursStayWhatTheyAre) {
  const auto same = [](const rlimit& a, const rlimit& b) {
    return a.rlim_cur == b.rlim_cur && a.rlim_max == b.rlim_max;
  };
  const rlimit cpu = LimitOf(RLIMIT_CPU);
  const rlimit memory = LimitOf(RLIMIT_AS);
  const rlimit core = LimitOf(RLIMIT_CORE);
  ChildOptions options;
  LimitTime(options, 7, 0);
  LimitMemory(options, std::uint64_t{512} * 1024 * 1024, 0);
  EXPECT_EQ(RunShell("ulimit -t", options), "7\n");
  EXPECT_TRUE(same(LimitOf(RLIMIT_CPU), cpu));
  EXPECT_TRUE(same(LimitOf(RLIMIT_AS), memory));
  EXPECT_TRUE(same(LimitOf(RLIMIT_CORE), core));
}

// Only a privileged process could, and a server that is one should not either.
TEST(ChildLimitsTest, NobodyGetsMoreThanWeMayHave) {
  rlimit ours = LimitOf(RLIMIT_CPU);
  ours.rlim_max = std::min<rlim_t>(ours.rlim_max, 100'000);
  ours.rlim_cur = ours.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_CPU, &ours), 0);  // for good, and more than a test ever needs
  ChildOptions options;
  for (const std::uint64_t wanted :
       {std::uint64_t{100'001}, std::numeric_limits<std::uint64_t>::max()}) {
    LimitTime(options, wanted, 0);
    EXPECT_EQ(RunShell("ulimit -H -t", options), Text(ours.rlim_max));
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
