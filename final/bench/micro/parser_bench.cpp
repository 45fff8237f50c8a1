// The price of parsing a request's head: HttpParser on the heads of real clients, whole and in
// pieces.
//
// bytes_per_second is the throughput to hold against other parsers. Ours also recognises the
// names, decodes the target and checks Host and framing, which a tokeniser leaves to its user.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/http_parser.h"
#include "http/uri.h"
#include "micro/request_heads.h"

namespace TURTLE_SERVER::bench {
namespace {

// Runs `head` through one parser, in pieces of `piece` bytes; 0: whole.
void ParseHead(benchmark::State& state, std::string_view head, std::size_t piece = 0) {
  ParserLimits limits;
  limits.max_fields = 4096;
  limits.max_head_bytes = std::size_t{1} << 20;
  HttpParser parser(limits);
  Request request;
  const std::size_t step = piece == 0 ? head.size() : piece;
  for (auto _ : state) {
    ParseState verdict = ParseState::kNeedMore;
    for (std::size_t end = step; verdict == ParseState::kNeedMore; end += step) {
      const std::size_t size = std::min(end, head.size());
      verdict = parser.Parse(head.substr(0, size), request).state;
      benchmark::DoNotOptimize(request);
    }
    if (verdict != ParseState::kDone) {
      state.SkipWithError("the head was refused");
      break;
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * head.size()));
}

BENCHMARK_CAPTURE(ParseHead, wrk, kWrk);
BENCHMARK_CAPTURE(ParseHead, curl, kCurl);
BENCHMARK_CAPTURE(ParseHead, firefox, kFirefox);
BENCHMARK_CAPTURE(ParseHead, chrome, kChrome);

BENCHMARK_CAPTURE(ParseHead, wrk_byte_by_byte, kWrk, 1);
BENCHMARK_CAPTURE(ParseHead, chrome_in_256s, kChrome, 256);
BENCHMARK_CAPTURE(ParseHead, chrome_in_16s, kChrome, 16);
BENCHMARK_CAPTURE(ParseHead, chrome_byte_by_byte, kChrome, 1);

// Linear in the head, however many fields it has.
void ParseManyFields(benchmark::State& state) {
  const std::string head = ManyFields(static_cast<std::size_t>(state.range(0)));
  ParseHead(state, head);
  state.SetComplexityN(state.range(0));
}
BENCHMARK(ParseManyFields)->RangeMultiplier(4)->Range(1, 1024)->Complexity();

// Linear too if the same head comes byte by byte.
void ParseManyFieldsByteByByte(benchmark::State& state) {
  const std::string head = ManyFields(static_cast<std::size_t>(state.range(0)));
  ParseHead(state, head, 1);
  state.SetComplexityN(state.range(0));
}
BENCHMARK(ParseManyFieldsByteByByte)->RangeMultiplier(4)->Range(1, 1024)->Complexity();

// The target alone: a view where nothing has to be decoded, a rewritten path elsewhere.
void ParseTarget(benchmark::State& state, std::string_view target) {
  Uri uri;
  for (auto _ : state) {
    benchmark::DoNotOptimize(target);
    const HeadFault fault = uri.Parse(target, Method::kGet);
    benchmark::DoNotOptimize(uri);
    if (fault) {
      state.SkipWithError("the target was refused");
      break;
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * target.size()));
}
BENCHMARK_CAPTURE(ParseTarget, plain, "/small.html");
BENCHMARK_CAPTURE(ParseTarget, query, "/assets/stylesheets/main.min.css?v=20260301");
BENCHMARK_CAPTURE(ParseTarget, encoded, "/a%20page/with%20spaces/../and%20dots.html");

}  // namespace
}  // namespace TURTLE_SERVER::bench
