// A loop that can't wait any more: the server ends, and Begin() says why.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>
#include <system_error>
#include <thread>

#include "base/unique_fd.h"
#include "core/turtle_server.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::size_t kLoops = 3;

auto OpenNull() -> UniqueFd { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

// Returns the number that the next descriptor will have.
auto NextDescriptor() -> int { return OpenNull().Get(); }

// Returns how many descriptors a loop has. It opens its poller first.
auto DescriptorsOfALoop() -> int {
  const int before = NextDescriptor();
  const Looper looper;
  return NextDescriptor() - before;
}

auto IsSocket(int fd) -> bool {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

// The parameter: which loop.
class TurtleServerBrokenLoop : public testing::TestWithParam<int> {};

TEST_P(TurtleServerBrokenLoop, EndsTheServerAndFliesOutOfBegin) {
  ServerOptions options;
  options.threads = kLoops;
  const int each = DescriptorsOfALoop();
  int poller = NextDescriptor();  // of the first loop, or a listener
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  ASSERT_EQ(server.Loopers().size(), kLoops);
  while (IsSocket(poller)) {
    ++poller;
  }
  poller += GetParam() * each;
  server.OnHandle([](Connection* client) { static_cast<void>(client->Recv()); });
  ASSERT_TRUE(server.Loopers()[static_cast<std::size_t>(GetParam())]->Post([poller] {
    ASSERT_EQ(::dup2(OpenNull().Get(), poller), poller);  // nobody can wait on that
  }));
  std::packaged_task<void()> begin([&server] { server.Begin(); });
  std::future<void> end = begin.get_future();
  std::thread thread(std::move(begin));
  EXPECT_EQ(end.wait_for(test::kPatience), std::future_status::ready) << "it serves on";
  EXPECT_FALSE(server.IsReady());
  server.Stop();
  thread.join();
  EXPECT_THROW(end.get(), std::system_error);
}

INSTANTIATE_TEST_SUITE_P(Loop, TurtleServerBrokenLoop, testing::Range(0, int{kLoops}));

}  // namespace
}  // namespace TURTLE_SERVER
