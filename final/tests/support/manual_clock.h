// A clock that only a test turns.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER::test {

/// Says the same time until it is told otherwise. Any thread.
class ManualClock {
 public:
  /// The clock to give to a Looper. This object must outlive it.
  [[nodiscard]] auto Source() -> ClockSource {
    return [this] { return Now(); };
  }

  /// The time.
  [[nodiscard]] auto Now() const -> TimePoint { return TimePoint(Clock::duration(ticks_.load())); }

  /// Turns it on.
  void Advance(Clock::duration by) { ticks_ += by.count(); }

  /// Turns it on and lets `loop` do all that is due then.
  void Advance(Clock::duration by, LoopThread& loop) {
    Advance(by);
    loop.RunRounds(2);  // the first of them has ended when the second runs
  }

 private:
  std::atomic<Clock::rep> ticks_{Clock::duration(std::chrono::hours(1)).count()};
};

}  // namespace TURTLE_SERVER::test
