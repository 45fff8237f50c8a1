// A pool whose threads are busy until a test has prepared their queue.
#pragma once

#include <cstddef>
#include <utility>

#include "support/gate.h"
#include "task/task_pool.h"

namespace TURTLE_SERVER::test {

/// Base of HeldPool: outlives the threads that wait in it.
struct HeldPoolGate {
  Gate gate;  ///< where they wait
};

/// Keeps each of its threads waiting in a task until Release().
class HeldPool : private HeldPoolGate, public TaskPool {
 public:
  explicit HeldPool(const TaskPoolOptions& options, ClockSource clock = Clock::now)
      : TaskPool(options, std::move(clock)) {
    for (std::size_t held = 1; held <= Threads(); ++held) {
      const auto submitted = Submit(MakeTask([this](const PoolTask&) { gate.Pass(); }), {});
      is_held_ = is_held_ && submitted == SubmitResult::kAccepted && gate.AwaitArrivals(held);
    }
  }
  HeldPool(const HeldPool&) = delete;
  auto operator=(const HeldPool&) -> HeldPool& = delete;
  ~HeldPool() { Release(); }

  /// True if every thread waits, as it should.
  [[nodiscard]] auto IsHeld() const noexcept -> bool { return is_held_; }

  /// Lets the threads go on. Repeated, nothing happens.
  void Release() { gate.Open(); }

 private:
  bool is_held_ = true;
};

}  // namespace TURTLE_SERVER::test
