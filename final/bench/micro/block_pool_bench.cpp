// An experiment: BlockPool, or malloc for each block of output?
//
// block_pool_bench uses the C library's malloc, block_pool_bench_jemalloc jemalloc's (where that is
// installed). Three ways to use blocks: one at a time, as a response that is sent at once does; a
// burst that is held together, as slow clients cause; and beside a second thread.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/block_pool.h"

namespace TURTLE_SERVER::bench {
namespace {

struct Pool {
  static auto Take() -> void* { return BlockPool::Take(); }
  static void Give(void* block) { BlockPool::Give(block); }
};

struct Malloc {
  static auto Take() -> void* { return std::malloc(BlockPool::kBlockBytes); }
  static void Give(void* block) { std::free(block); }
};

// The kernel may not even provide a block without a write.
void Use(void* block, std::size_t bytes) {
  std::memset(block, 'x', bytes);
  benchmark::DoNotOptimize(block);
  benchmark::ClobberMemory();
}

template <class Source>
void OneAtATime(benchmark::State& state) {
  for (auto _ : state) {
    void* const block = Source::Take();
    Use(block, 64);
    Source::Give(block);
  }
}
BENCHMARK(OneAtATime<Pool>);
BENCHMARK(OneAtATime<Malloc>);
BENCHMARK(OneAtATime<Pool>)->Threads(2);
BENCHMARK(OneAtATime<Malloc>)->Threads(2);

// Takes `range` blocks, then frees all of them; time is per burst, items are blocks.
template <class Source>
void Burst(benchmark::State& state) {
  std::vector<void*> blocks(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (void*& block : blocks) {
      block = Source::Take();
      Use(block, 64);
    }
    for (void* block : blocks) {
      Source::Give(block);
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Burst<Pool>)->Arg(8)->Arg(64)->Arg(512);
BENCHMARK(Burst<Malloc>)->Arg(8)->Arg(64)->Arg(512);

// Between two blocks there are small allocations, as in a real program: the heap is not a stack.
template <class Source>
void BesideSmallObjects(benchmark::State& state) {
  std::vector<void*> small(64);
  std::size_t i = 0;
  for (auto _ : state) {
    void* const block = Source::Take();
    Use(block, 1024);
    std::free(small[i]);
    small[i] = std::malloc(32 + 24 * i);
    i = (i + 1) % small.size();
    Source::Give(block);
  }
  for (void* each : small) {
    std::free(each);
  }
}
BENCHMARK(BesideSmallObjects<Pool>);
BENCHMARK(BesideSmallObjects<Malloc>);

}  // namespace
}  // namespace TURTLE_SERVER::bench
