// TimerQueue and DeadlineHeap: the cost of a timer beside many others.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

#include "core/deadline_heap.h"
#include "core/timer_queue.h"

namespace TURTLE_SERVER::bench {
namespace {

using std::chrono::microseconds;

// Deadlines within the next minute, always the same ones.
class Deadlines {
 public:
  auto Next() -> TimePoint { return TimePoint{} + microseconds(1 + random_() % 60'000'000); }

 private:
  std::minstd_rand random_{1};
};

void TimerQueueAddAndCancel(benchmark::State& state) {
  Deadlines deadlines;
  TimerQueue timers;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    timers.Add(deadlines.Next(), [] {});
  }
  for (auto _ : state) {
    const TimerId id = timers.Add(deadlines.Next(), [] {});
    benchmark::DoNotOptimize(timers.Cancel(id));
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(TimerQueueAddAndCancel)
    ->RangeMultiplier(8)
    ->Range(8, 1 << 18)
    ->Complexity(benchmark::oLogN);

void TimerQueueRunDue(benchmark::State& state) {
  std::int64_t ran = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Deadlines deadlines;
    TimerQueue timers;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      timers.Add(deadlines.Next(), [&ran] { ++ran; });
    }
    state.ResumeTiming();
    benchmark::DoNotOptimize(timers.RunDue(TimePoint{} + std::chrono::minutes(2)));
  }
  state.SetItemsProcessed(ran);
  state.SetComplexityN(state.range(0));
}
BENCHMARK(TimerQueueRunDue)->RangeMultiplier(8)->Range(64, 1 << 15)->Complexity(benchmark::oN);

// The loop's work for one connection whose deadline has moved: the old entry expires, and one for
// the later time replaces it.
void DeadlineHeapPopAndPush(benchmark::State& state) {
  Deadlines deadlines;
  DeadlineHeap heap;
  for (std::int64_t fd = 0; fd < state.range(0); ++fd) {
    heap.Push({deadlines.Next(), static_cast<int>(fd)});
  }
  for (auto _ : state) {
    const TimePoint now = *heap.Next();
    const auto entry = heap.PopDue(now);
    heap.Push({now + std::chrono::seconds(60), entry->fd});
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(DeadlineHeapPopAndPush)
    ->RangeMultiplier(8)
    ->Range(8, 1 << 18)
    ->Complexity(benchmark::oLogN);

// The loop's question in each round.
void DeadlineHeapNext(benchmark::State& state) {
  Deadlines deadlines;
  DeadlineHeap heap;
  for (std::int64_t fd = 0; fd < state.range(0); ++fd) {
    heap.Push({deadlines.Next(), static_cast<int>(fd)});
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(heap.Next());
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(DeadlineHeapNext)->RangeMultiplier(64)->Range(8, 1 << 18)->Complexity(benchmark::o1);

}  // namespace
}  // namespace TURTLE_SERVER::bench
