// An experiment: a cyclic or a linear buffer?
//
// Three ways to use one. All input is used up at once. Or it is a stream of requests that are cut
// at other places than the reads, so that a part of one always stays, and a parser wants each in
// one piece. Or it is a long queue whose reader takes what there is, in two parts if need be.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/buffer.h"
#include "micro/cyclic_buffer.h"

namespace TURTLE_SERVER::bench {
namespace {

struct Linear : Buffer {
  auto Straight() -> std::string_view { return View(); }
};

template <class Shape>
void UsedUpAtOnce(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  Shape buffer;
  for (auto _ : state) {
    buffer.Append(bytes);
    benchmark::DoNotOptimize(buffer.Straight().data());
    buffer.Consume(bytes.size());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(UsedUpAtOnce<Linear>)->Arg(64)->Arg(1024)->Arg(16384);
BENCHMARK(UsedUpAtOnce<CyclicBuffer>)->Arg(64)->Arg(1024)->Arg(16384);

// Reads of 1448 bytes, requests of `range`.
template <class Shape>
void StreamOfRequests(benchmark::State& state) {
  const std::string segment(1448, 'x');
  const auto request = static_cast<std::size_t>(state.range(0));
  Shape buffer;
  for (auto _ : state) {
    buffer.Append(segment);
    while (buffer.Size() >= request) {
      benchmark::DoNotOptimize(buffer.Straight().data());
      buffer.Consume(request);
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * segment.size()));
}
BENCHMARK(StreamOfRequests<Linear>)->Arg(45)->Arg(700)->Arg(5000);
BENCHMARK(StreamOfRequests<CyclicBuffer>)->Arg(45)->Arg(700)->Arg(5000);

// No reader needs one piece: the best case of a ring.
template <class Shape>
void LongQueue(benchmark::State& state) {
  const std::string piece(1000, 'x');
  Shape buffer;
  buffer.Append(std::string(static_cast<std::size_t>(state.range(0)), 'x'));
  for (auto _ : state) {
    buffer.Append(piece);
    buffer.Consume(piece.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * piece.size()));
}
BENCHMARK(LongQueue<Linear>)->Arg(1000)->Arg(64000)->Arg(1000000);
BENCHMARK(LongQueue<CyclicBuffer>)->Arg(1000)->Arg(64000)->Arg(1000000);

}  // namespace
}  // namespace TURTLE_SERVER::bench
