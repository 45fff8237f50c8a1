// An experiment: a text as `std::string_view` or as `const std::string&`?
//
// With an argument that is a std::string already there is little between them. With a literal the
// reference needs a string made for the call: within the object up to 15 bytes, by an allocation
// from 16 on.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace TURTLE_SERVER::bench {
namespace {

#define TURTLE_SHORT "Content-Type"
#define TURTLE_LONG "Mon, 02 Mar 2026 10:00:00 GMT; a text that no string holds within"

// Does what most callees do with a text: looks at the length and some of the bytes. Not inlined, as
// most callees are not.
[[gnu::noinline]] auto TakeView(std::string_view text) -> std::size_t {
  benchmark::ClobberMemory();
  return text.size() + static_cast<unsigned char>(text.back());
}

[[gnu::noinline]] auto TakeReference(const std::string& text) -> std::size_t {
  benchmark::ClobberMemory();
  return text.size() + static_cast<unsigned char>(text.back());
}

void ViewOfShortLiteral(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(TakeView(TURTLE_SHORT));
  }
}
BENCHMARK(ViewOfShortLiteral);

void ReferenceOfShortLiteral(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(TakeReference(TURTLE_SHORT));
  }
}
BENCHMARK(ReferenceOfShortLiteral);

void ViewOfLongLiteral(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(TakeView(TURTLE_LONG));
  }
}
BENCHMARK(ViewOfLongLiteral);

void ReferenceOfLongLiteral(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(TakeReference(TURTLE_LONG));
  }
}
BENCHMARK(ReferenceOfLongLiteral);

void ViewOfString(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(TakeView(text));
  }
}
BENCHMARK_CAPTURE(ViewOfString, short_text, TURTLE_SHORT);
BENCHMARK_CAPTURE(ViewOfString, long_text, TURTLE_LONG);

void ReferenceOfString(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(TakeReference(text));
  }
}
BENCHMARK_CAPTURE(ReferenceOfString, short_text, TURTLE_SHORT);
BENCHMARK_CAPTURE(ReferenceOfString, long_text, TURTLE_LONG);

// A part of a text, as parsers pass it on: a view costs nothing, a reference needs its own string.
void ViewOfPart(benchmark::State& state) {
  const std::string text = TURTLE_LONG;
  for (auto _ : state) {
    benchmark::DoNotOptimize(TakeView(std::string_view(text).substr(5, 40)));
  }
}
BENCHMARK(ViewOfPart);

void ReferenceOfPart(benchmark::State& state) {
  const std::string text = TURTLE_LONG;
  for (auto _ : state) {
    benchmark::DoNotOptimize(TakeReference(text.substr(5, 40)));
  }
}
BENCHMARK(ReferenceOfPart);

}  // namespace
}  // namespace TURTLE_SERVER::bench
