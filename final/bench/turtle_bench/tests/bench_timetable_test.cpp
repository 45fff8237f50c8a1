#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "bench/timetable.h"
#include "core/looper.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

using Started = std::vector<std::pair<std::uint32_t, TimePoint>>;

// A request per second from an hour ago on: that many are due.
class TimetableTest : public testing::Test {
 protected:
  auto At(int number) const -> TimePoint { return begin_ + seconds(number); }

  Looper looper_;
  const TimePoint begin_ = Clock::now() - hours(1);
  Started started_;
  bool able_ = true;
  Timetable timetable_{looper_, 4, 1.0, [this](std::uint32_t client, TimePoint due) {
                         started_.emplace_back(client, due);
                         return able_;
                       }};
};

TEST_F(TimetableTest, StartsWhatIsDueAsLongAsClientsAreFree) {
  timetable_.Offer(2);
  timetable_.Offer(0);
  timetable_.Offer(2);  // repeated
  EXPECT_TRUE(started_.empty()) << "it has not begun";
  timetable_.Begin(begin_);
  EXPECT_EQ(started_, (Started{{2, At(0)}, {0, At(1)}}));
  timetable_.Offer(2);
  timetable_.Run();
  EXPECT_EQ(started_.back(), std::make_pair(2U, At(2))) << "at once, by who has become free";
  EXPECT_EQ(timetable_.Overdue(At(10)), 7U);
}

TEST_F(TimetableTest, CountsHowLongWhatIsNotStartedHasWaited) {
  timetable_.Begin(begin_);
  Histogram latency;
  timetable_.CountWaits(At(3), latency);
  EXPECT_EQ(latency.Count(), 3U);
  EXPECT_EQ(latency.Mean(), 2e9) << "3, 2 and 1 seconds";
  timetable_.CountWaits(At(1'000'000), latency);  // more than there are steps
  EXPECT_EQ(latency.Count(), 1'000'003U);
  EXPECT_EQ(latency.Max(), 1'000'000'000'000'000U);
}

TEST_F(TimetableTest, ARequestThatAClientCanNotTakeIsTheNextOnes) {
  able_ = false;
  timetable_.Offer(1);
  timetable_.Begin(begin_);
  EXPECT_EQ(started_, (Started{{1, At(0)}}));
  able_ = true;
  timetable_.Offer(3);
  timetable_.Run();
  EXPECT_EQ(started_.back(), std::make_pair(3U, At(0)));
}

TEST(TimetableAlarmTest, WakesTheLoopWhenARequestIsDue) {
  Looper looper;
  TimePoint started{};
  const TimePoint due = Clock::now() + std::chrono::milliseconds(5);
  Timetable timetable(looper, 1, 1.0, [&](std::uint32_t, TimePoint) {
    started = Clock::now();
    looper.Stop();
    return true;
  });
  timetable.Begin(due);
  timetable.Offer(0);
  timetable.Run();
  EXPECT_EQ(started, TimePoint()) << "not due";
  looper.RunAfter(seconds(10), [&] { looper.Stop(); });
  looper.Loop();
  EXPECT_GE(started, due);
}

}  // namespace
}  // namespace TURTLE_SERVER
