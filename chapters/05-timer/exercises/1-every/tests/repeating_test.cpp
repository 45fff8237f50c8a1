#include "core/repeating.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/captured_stderr.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::LoopThread;
using test::ManualClock;

// When a task ran, in seconds from the beginning on.
class Times {
 public:
  explicit Times(ManualClock& clock) : clock_(clock), begin_(clock.Now()) {}

  void Note() { times_.push_back((clock_.Now() - begin_) / seconds(1)); }

  [[nodiscard]] auto Get() const -> const std::vector<std::int64_t>& { return times_; }

 private:
  ManualClock& clock_;
  TimePoint begin_;
  std::vector<std::int64_t> times_;
};

using Seconds = std::vector<std::int64_t>;

TEST(Repeating, RunsOncePerPeriod) {
  ManualClock clock;
  Times ran(clock);
  std::optional<Repeating> repeating;  // before the loop: destroyed on its thread
  LoopThread loop(clock.Source());
  loop.Ask([&] { repeating.emplace(loop.Get(), seconds(10), [&] { ran.Note(); }); });
  clock.Advance(milliseconds(9'999), loop);
  loop.Ask([&] { EXPECT_EQ(ran.Get(), Seconds{}) << "not before its time"; });
  clock.Advance(milliseconds(1), loop);
  clock.Advance(seconds(9), loop);
  clock.Advance(seconds(1), loop);
  clock.Advance(seconds(10), loop);
  loop.Ask([&] {
    EXPECT_EQ(ran.Get(), (Seconds{10, 20, 30}));
    repeating.reset();
  });
  clock.Advance(seconds(100), loop);
  loop.Ask([&] { EXPECT_EQ(ran.Get(), (Seconds{10, 20, 30})) << "it has ended"; });
}

// A loop is always a little late. A hundred times a little is a lot.
TEST(Repeating, ARunThatIsLateDoesNotPutOffTheNext) {
  ManualClock clock;
  Times ran(clock);
  std::optional<Repeating> repeating;
  LoopThread loop(clock.Source());
  loop.Ask([&] { repeating.emplace(loop.Get(), seconds(10), [&] { ran.Note(); }); });
  clock.Advance(seconds(13), loop);
  clock.Advance(seconds(6), loop);
  loop.Ask([&] { EXPECT_EQ(ran.Get(), Seconds{13}); });
  clock.Advance(seconds(1), loop);
  clock.Advance(seconds(19), loop);
  clock.Advance(seconds(1), loop);
  loop.Ask([&] {
    EXPECT_EQ(ran.Get(), (Seconds{13, 20, 39, 40}));
    repeating.reset();
  });
}

TEST(Repeating, TimesThatWereMissedAreMadeUpForByOneRun) {
  ManualClock clock;
  Times ran(clock);
  std::optional<Repeating> repeating;
  LoopThread loop(clock.Source());
  loop.Ask([&] { repeating.emplace(loop.Get(), seconds(10), [&] { ran.Note(); }); });
  clock.Advance(seconds(95), loop);
  loop.RunRounds(5);
  loop.Ask([&] { EXPECT_EQ(ran.Get(), Seconds{95}); });
  clock.Advance(seconds(5), loop);
  clock.Advance(seconds(100), loop);
  loop.RunRounds(5);
  loop.Ask([&] { EXPECT_EQ(ran.Get(), (Seconds{95, 100, 200})); });
  clock.Advance(seconds(10), loop);
  loop.Ask([&] {
    EXPECT_EQ(ran.Get(), (Seconds{95, 100, 200, 210})) << "a time that is met is not missed";
    repeating.reset();
  });
}

TEST(Repeating, ATaskMayEndIt) {
  ManualClock clock;
  Times ran(clock);
  const auto witness = std::make_shared<int>(0);
  std::optional<Repeating> repeating;
  LoopThread loop(clock.Source());
  loop.Ask([&] {
    repeating.emplace(loop.Get(), seconds(1), [&ran, &repeating, witness] {
      repeating.reset();
      ran.Note();
      ++*witness;  // the task's captures are still there
    });
  });
  clock.Advance(seconds(1), loop);
  clock.Advance(seconds(1), loop);
  loop.Ask([&] {
    EXPECT_EQ(ran.Get(), Seconds{1});
    EXPECT_EQ(*witness, 1);
    EXPECT_EQ(witness.use_count(), 1) << "and is let go afterwards";
  });
}

TEST(Repeating, ATaskMayReplaceItByAnother) {
  ManualClock clock;
  Times ran(clock);
  std::optional<Repeating> repeating;
  LoopThread loop(clock.Source());
  loop.Ask([&] {
    repeating.emplace(loop.Get(), seconds(10), [&] {
      ran.Note();
      repeating.emplace(loop.Get(), seconds(3), [&ran] { ran.Note(); });
    });
  });
  for (int i = 0; i < 20; ++i) {
    clock.Advance(seconds(1), loop);
  }
  loop.Ask([&] {
    EXPECT_EQ(ran.Get(), (Seconds{10, 13, 16, 19}));
    repeating.reset();
  });
}

TEST(Repeating, ATaskThatThrowsRunsAgain) {
  const test::CapturedStderr captured;
  ManualClock clock;
  int ran = 0;
  std::optional<Repeating> repeating;
  LoopThread loop(clock.Source());
  loop.Ask([&] {
    repeating.emplace(loop.Get(), seconds(1), [&] {
      ++ran;
      throw std::runtime_error("not today");
    });
  });
  clock.Advance(seconds(1), loop);
  clock.Advance(seconds(1), loop);
  loop.Ask([&] {
    EXPECT_EQ(ran, 2);
    repeating.reset();
  });
  EXPECT_NE(captured.Text().find("not today"), std::string::npos);
}

TEST(Repeating, WithoutAPeriodThereIsNone) {
  Looper looper;
  for (const auto period : {seconds(0), seconds(-1)}) {
    try {
      const Repeating repeating(looper, period, [] {});
      ADD_FAILURE() << "a loop that does nothing else";
    } catch (const std::invalid_argument& error) {
      EXPECT_STREQ(error.what(), "a period has to be more than zero");
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
