// A pinned thread runs on one CPU, its children on all, and so does the thread afterwards.
#ifdef __linux__

#include "core/cpu_affinity.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <future>
#include <iterator>
#include <set>
#include <thread>

#include "core/turtle_server.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

// Returns the CPUs that this thread may use.
auto Cpus() -> std::set<int> {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::set<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) {
      cpus.insert(cpu);
    }
  }
  return cpus;
}

TEST(CpuAffinity, EachIndexIsACpuAndAfterTheLastComesTheFirst) {
  const std::set<int> before = Cpus();
  std::size_t index = 0;
  for (int round = 0; round < 2; ++round) {
    for (const int cpu : before) {
      const CpuPin pin(index++);
      EXPECT_EQ(pin.Error(), 0);
      EXPECT_EQ(Cpus(), std::set<int>{cpu});
      EXPECT_EQ(sched_getcpu(), cpu);
    }
    EXPECT_EQ(Cpus(), before);
  }
}

TEST(CpuAffinity, IsAThreadsOwn) {
  const std::set<int> before = Cpus();
  std::thread([] { const CpuPin pin(0); }).join();
  EXPECT_EQ(Cpus(), before);
}

TEST(CpuAffinity, IsGivenUpForAChild) {
  const std::set<int> before = Cpus();
  const CpuPin pin(0);
  ReleaseCpu();
  EXPECT_EQ(Cpus(), before);
}

TEST(CpuAffinity, WithoutAPinNothingIsReleased) {
  const std::set<int> before = Cpus();
  ReleaseCpu();
  EXPECT_EQ(Cpus(), before);
}

TEST(CpuAffinity, EachLoopOfAServerHasItsCpu) {
  const std::set<int> before = Cpus();
  ServerOptions options;
  options.threads = before.size() + 1;
  options.cpu_affinity = true;
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  server.OnHandle(test::Echo);
  const test::ServerThread running(server);
  std::size_t index = 0;
  for (Looper* looper : server.Loopers()) {
    std::promise<std::set<int>> promise;
    ASSERT_TRUE(looper->Post([&promise] { promise.set_value(Cpus()); }));
    const int expected = *std::next(before.begin(), static_cast<long>(index++ % before.size()));
    EXPECT_EQ(promise.get_future().get(), std::set<int>{expected});
  }
}

}  // namespace
}  // namespace TURTLE_SERVER

#endif  // __linux__
