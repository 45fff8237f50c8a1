// A clock that only a test turns.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER::test {

/// Returns the same time until it is turned. Any thread.
class ManualClock {
 public:
  /// Returns the clock to give to a Looper. This object must outlive it.
  [[nodiscard]] auto Source() -> ClockSource {
    return [this] { return Now(); };
  }

  /// Returns the time.
  [[nodiscard]] auto Now() const -> TimePoint { return TimePoint(Clock::duration(ticks_.load())); }

  /// Turns it forward.
  void Advance(Clock::duration by) { ticks_ += by.count(); }

  /// Turns it forward and lets `loop` do everything that is due then.
  void Advance(Clock::duration by, LoopThread& loop) {
    Advance(by);
    loop.RunRounds(2);  // the first of them has ended when the second runs
  }

 private:
  std::atomic<Clock::rep> ticks_{Clock::duration(std::chrono::hours(1)).count()};
};

}  // namespace TURTLE_SERVER::test
