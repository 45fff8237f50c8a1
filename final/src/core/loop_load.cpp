#include "core/loop_load.h"

#include <algorithm>
#include <utility>

namespace TURTLE_SERVER {

LoopLoad::LoopLoad(ClockSource clock) : clock_(std::move(clock)), began_(clock_()) {}

void LoopLoad::BeginWait(TimePoint now) noexcept {
  const Rep account = account_.load(std::memory_order_relaxed);
  if (account < 0) {
    account_.store(SinceBegan(now) - ~account, std::memory_order_release);
    round_began_.store(-1, std::memory_order_release);
  }
}

void LoopLoad::EndWait(TimePoint now) noexcept {
  const Rep account = account_.load(std::memory_order_relaxed);
  if (account >= 0) {
    account_.store(~(SinceBegan(now) - account), std::memory_order_release);
    round_began_.store(SinceBegan(now), std::memory_order_release);
    rounds_.Add(1);
  }
}

// The clock is read last: so it is never earlier than what was stored.
auto LoopLoad::Read() const -> LoopTimes {
  LoopTimes times;
  times.rounds = rounds_.Get();
  const Rep account = account_.load(std::memory_order_acquire);
  const Rep round_began = round_began_.load(std::memory_order_acquire);
  const Rep now = SinceBegan(clock_());
  const Rep known = account < 0 ? ~account : account;
  const Clock::duration part(known);
  const Clock::duration rest(std::max(now - known, Rep{0}));
  times.busy = account < 0 ? rest : part;
  times.waited = account < 0 ? part : rest;
  const MutexLock lock(mutex_);
  told_.busy = times.busy = std::max(told_.busy, times.busy);
  told_.waited = times.waited = std::max(told_.waited, times.waited);
  told_.rounds = times.rounds = std::max(told_.rounds, times.rounds);
  times.round = Clock::duration(round_began < 0 ? 0 : std::max(now - round_began, Rep{0}));
  return times;
}

}  // namespace TURTLE_SERVER
