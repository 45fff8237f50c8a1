#include "base/descriptor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

auto Limit() -> rlimit {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

// Gives this process's limits back at the end.
class DescriptorLimit : public ::testing::Test {
 protected:
  ~DescriptorLimit() override { ::setrlimit(RLIMIT_NOFILE, &before_); }

  void Set(rlim_t soft) const {
    const rlimit limit{soft, before_.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }

  const rlimit before_ = Limit();
};

TEST_F(DescriptorLimit, IsRaisedToWhatIsWanted) {
  Set(100);
  EXPECT_EQ(RaiseDescriptorLimit(200), 200U);
  EXPECT_EQ(Limit().rlim_cur, 200U);
  EXPECT_EQ(Limit().rlim_max, before_.rlim_max) << "what others may be allowed is left alone";
}

TEST_F(DescriptorLimit, IsNeverMadeLess) {
  Set(150);
  EXPECT_EQ(RaiseDescriptorLimit(100), 150U);
  EXPECT_EQ(RaiseDescriptorLimit(0), 150U);
  EXPECT_EQ(Limit().rlim_cur, 150U);
}

TEST_F(DescriptorLimit, GoesAsFarAsItMayAndNoFurther) {
  Set(100);
  EXPECT_EQ(RaiseDescriptorLimit(kAll), before_.rlim_max);
  EXPECT_EQ(Limit().rlim_cur, before_.rlim_max);
}

// In its own process: a hard limit that was lowered stays low.
TEST_F(DescriptorLimit, AHardLimitIsNotCrossedEvenByRoot) {
  const auto raise = [] {
    const rlimit few{100, 300};
    ::setrlimit(RLIMIT_NOFILE, &few);
    const bool right =
        RaiseDescriptorLimit(1'000) == 300 && Limit().rlim_cur == 300 && Limit().rlim_max == 300;
    std::_Exit(right ? 0 : 1);
  };
  EXPECT_EXIT(raise(), ::testing::ExitedWithCode(0), "");
}

TEST_F(DescriptorLimit, TheEchoServerTakesAsManyClientsAsItIsAllowed) {
  test::Child server("/bin/sh",
                     {"-c", "ulimit -Sn 64; exec \"$0\" 0", test::ExamplePath("echo_server")});
  const std::string line = server.ReadLine();
  ASSERT_EQ(line.rfind("listening on ", 0), 0U) << line << server.ReadErrors();
  const int port = std::stoi(line.substr(line.rfind(':') + 1));
  std::vector<test::Client> clients;
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back(port);
    ASSERT_TRUE(clients.back().Send("hello"));
    ASSERT_EQ(clients.back().Receive(5), "hello") << "client " << i;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
