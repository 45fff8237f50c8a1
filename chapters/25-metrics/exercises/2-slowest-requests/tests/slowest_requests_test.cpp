#include "ops/slowest_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

auto TargetsOf(const SlowestRequests& slowest) -> std::vector<std::string> {
  const std::vector<SlowRequest> kept = slowest.Read();
  std::vector<std::string> targets(kept.size());
  std::transform(kept.begin(), kept.end(), targets.begin(),
                 [](const SlowRequest& each) { return each.target; });
  return targets;
}

using Targets = std::vector<std::string>;

TEST(SlowestRequestsTest, TheSlowestComeFirstAndTheQuickestMakeRoom) {
  SlowestRequests slowest(3);
  EXPECT_EQ(TargetsOf(slowest), Targets());
  slowest.Add("/b", 200, milliseconds(20));
  slowest.Add("/d", 404, milliseconds(40));
  EXPECT_EQ(TargetsOf(slowest), (Targets{"/d", "/b"}));
  slowest.Add("/a", 200, milliseconds(10));
  EXPECT_EQ(TargetsOf(slowest), (Targets{"/d", "/b", "/a"}));
  slowest.Add("/c", 0, milliseconds(30));
  slowest.Add("/quick", 200, milliseconds(1));
  EXPECT_EQ(TargetsOf(slowest), (Targets{"/d", "/c", "/b"}));
  const SlowRequest first = slowest.Read().front();
  EXPECT_EQ(first.status, 404);
  EXPECT_EQ(first.took, milliseconds(40));
}

TEST(SlowestRequestsTest, OfEquallySlowOnesTheEarlierStay) {
  SlowestRequests slowest(3);
  slowest.Add("/1", 200, milliseconds(5));
  slowest.Add("/2", 200, milliseconds(9));
  slowest.Add("/3", 200, milliseconds(5));
  slowest.Add("/4", 200, milliseconds(5));
  EXPECT_EQ(TargetsOf(slowest), (Targets{"/2", "/1", "/3"}));
  slowest.Add("/5", 200, milliseconds(9));
  EXPECT_EQ(TargetsOf(slowest), (Targets{"/2", "/5", "/1"}));
}

TEST(SlowestRequestsTest, ARequestThatTookNoTimeIsKeptWhileThereIsRoom) {
  SlowestRequests slowest(2);
  slowest.Add("/now", 200, milliseconds(0));
  EXPECT_EQ(TargetsOf(slowest), Targets{"/now"});
}

TEST(SlowestRequestsTest, ALongTargetIsCutOff) {
  SlowestRequests slowest(1);
  const std::string target(10 * SlowestRequests::kMaxTarget, 'x');
  slowest.Add(target, 200, milliseconds(1));
  EXPECT_EQ(TargetsOf(slowest), Targets{target.substr(0, SlowestRequests::kMaxTarget)});
}

TEST(SlowestRequestsTest, AddAllocatesNothing) {
  SlowestRequests slowest(8);
  const std::string target(2 * SlowestRequests::kMaxTarget, 'x');
  test::counts_allocations = true;
  test::allocations = 0;
  for (int i = 0; i < 1000; ++i) {
    slowest.Add(target, 200, milliseconds(i * 7919 % 1000));
  }
  test::counts_allocations = false;
  EXPECT_EQ(test::allocations, 0U);
  const std::vector<SlowRequest> kept = slowest.Read();
  ASSERT_EQ(kept.size(), 8U);
  EXPECT_EQ(kept.front().took, milliseconds(999));
  EXPECT_EQ(kept.back().took, milliseconds(992));
}

TEST(SlowestRequestsTest, NoRoomIsRefused) {
  try {
    const SlowestRequests none(0);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "0 requests: at least 1");
  }
}

TEST(SlowestRequestsTest, AnotherThreadReadsWhileTheLoopAdds) {
  SlowestRequests slowest(4);
  std::atomic<bool> done{false};
  std::thread loop([&] {
    for (int i = 1; i <= 20'000; ++i) {
      slowest.Add("/" + std::to_string(i), i, milliseconds(i));
    }
    done = true;
  });
  bool last = false;
  while (!last) {
    last = done;
    const std::vector<SlowRequest> kept = slowest.Read();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(kept[i].took, milliseconds(kept[i].status));
      EXPECT_EQ(kept[i].target, "/" + std::to_string(kept[i].status));
      EXPECT_TRUE(i == 0 || kept[i].took < kept[i - 1].took);
    }
  }
  loop.join();
  EXPECT_EQ(TargetsOf(slowest), (Targets{"/20000", "/19999", "/19998", "/19997"}));
}

}  // namespace
}  // namespace TURTLE_SERVER
