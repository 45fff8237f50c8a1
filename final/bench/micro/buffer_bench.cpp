// Buffer: bytes in at the back, out at the front, and how the cost grows with its content.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/buffer.h"

namespace TURTLE_SERVER::bench {
namespace {

// All input is used up at once: a block is taken and released each time.
void AppendAndConsumeAll(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  Buffer buffer;
  for (auto _ : state) {
    buffer.Append(bytes);
    benchmark::DoNotOptimize(buffer.View().data());
    buffer.Consume(bytes.size());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(AppendAndConsumeAll)->RangeMultiplier(8)->Range(64, 1 << 18);

// A backlog, taken in small pieces: linear, since the rest is hardly ever moved.
void ConsumeInPieces(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    Buffer buffer;
    buffer.Append(bytes);
    while (!buffer.Empty()) {
      buffer.Consume(100);
    }
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(ConsumeInPieces)->RangeMultiplier(8)->Range(1 << 10, 1 << 22)->Complexity(benchmark::oN);

// A body that collects: linear, since the block doubles.
void AppendInPieces(benchmark::State& state) {
  const std::string piece(1024, 'x');
  for (auto _ : state) {
    Buffer buffer;
    while (buffer.Size() < static_cast<std::size_t>(state.range(0))) {
      buffer.Append(piece);
    }
    benchmark::DoNotOptimize(buffer.View().data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(AppendInPieces)->RangeMultiplier(8)->Range(1 << 10, 1 << 22)->Complexity(benchmark::oN);

// A queue that never empties: in at the back as much as out at the front, over a backlog.
void PassThroughBacklog(benchmark::State& state) {
  const std::string piece(1000, 'x');
  Buffer buffer;
  buffer.Append(std::string(static_cast<std::size_t>(state.range(0)), 'x'));
  for (auto _ : state) {
    buffer.Append(piece);
    buffer.Consume(piece.size());
    benchmark::DoNotOptimize(buffer.View().data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * piece.size()));
}
BENCHMARK(PassThroughBacklog)->RangeMultiplier(16)->Range(16, 1 << 20);

}  // namespace
}  // namespace TURTLE_SERVER::bench
