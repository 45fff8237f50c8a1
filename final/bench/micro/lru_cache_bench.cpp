// LruCache with paths for keys: hits, misses and evictions, from ten entries to a hundred thousand.
// Beside it, the same on the standard containers: chapter 15 compares them.
//
// The number of steps does not grow; the time does, when nodes no longer fit the processor's
// caches.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/lru_cache.h"
#include "micro/list_cache.h"

namespace TURTLE_SERVER::bench {
namespace {

using OneNode = LruCache<std::string, int>;
using Standard = ListCache;
constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max() / 2;

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(10, 100'000)->Complexity(benchmark::o1);
}

auto Paths(std::size_t count) -> std::vector<std::string> {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < count; ++i) {
    paths.push_back("/chapters/05-timer/page-" + std::to_string(i) + ".html");
  }
  std::shuffle(paths.begin(), paths.end(), std::minstd_rand(1));
  return paths;
}

template <class Cache>
void Fill(Cache& cache, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    cache.Insert(path, 1, path.size());
  }
}

template <class Cache>
void FindHit(benchmark::State& state) {
  std::vector<std::string> paths = Paths(static_cast<std::size_t>(state.range(0)));
  Cache cache(kUnbounded, kUnbounded);
  Fill(cache, paths);
  std::shuffle(paths.begin(), paths.end(), std::minstd_rand(2));
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cache.Find(std::string_view(paths[i])));
    i = i + 1 == paths.size() ? 0 : i + 1;
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK_TEMPLATE(FindHit, OneNode)->Apply(Sizes);
BENCHMARK_TEMPLATE(FindHit, Standard)->Apply(Sizes);

template <class Cache>
void FindMiss(benchmark::State& state) {
  Cache cache(kUnbounded, kUnbounded);
  Fill(cache, Paths(static_cast<std::size_t>(state.range(0))));
  for (auto _ : state) {
    benchmark::DoNotOptimize(cache.Find(std::string_view("/chapters/05-timer/missing.html")));
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK_TEMPLATE(FindMiss, OneNode)->Apply(Sizes);
BENCHMARK_TEMPLATE(FindMiss, Standard)->Apply(Sizes);

// Each entry that comes pushes out the oldest.
template <class Cache>
void InsertAndEvict(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const std::vector<std::string> paths = Paths(2 * count);
  constexpr std::size_t kWeight = 64;
  const std::size_t room = count * (kWeight + Cache::OverheadBytes());
  Cache cache(room, room);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cache.Insert(paths[i], 1, kWeight));
    i = i + 1 == paths.size() ? 0 : i + 1;
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK_TEMPLATE(InsertAndEvict, OneNode)->Apply(Sizes);
BENCHMARK_TEMPLATE(InsertAndEvict, Standard)->Apply(Sizes);

}  // namespace
}  // namespace TURTLE_SERVER::bench
