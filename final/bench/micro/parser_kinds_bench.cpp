// An experiment: a parser written by hand or driven by a table?
//
// Before anything is measured, the kinds have to agree on every head, on every beginning of one and
// on every head with one byte replaced.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/http_parser.h"
#include "micro/request_heads.h"
#include "micro/tokeniser.h"

namespace TURTLE_SERVER::bench {
namespace {

using Tokeniser = bool (*)(std::string_view, Tokens&);

auto AreEqual(const Tokens& a, const Tokens& b) -> bool {
  bool equal =
      a.method == b.method && a.target == b.target && a.version == b.version && a.size == b.size;
  for (std::size_t i = 0; equal && i < a.size; ++i) {
    equal = a.fields[i].name == b.fields[i].name && a.fields[i].value == b.fields[i].value;
  }
  return equal;
}

auto AgreeOn(std::string_view head) -> bool {
  Tokens first;
  Tokens second;
  Tokens third;
  const bool is_head = ByteTokeniser(head, first);
  return VectorTokeniser(head, second) == is_head && TableTokeniser(head, third) == is_head &&
         (!is_head || (AreEqual(first, second) && AreEqual(first, third)));
}

auto Agree(std::string_view head) -> bool {
  Tokens tokens;
  bool agree = ByteTokeniser(head, tokens);
  for (std::size_t at = 0; at < head.size(); ++at) {
    // Memory of its own size, so that a sanitizer sees a byte read too many.
    agree = agree && AgreeOn(std::string(head.substr(0, at)));
    for (char byte : std::string_view(" \t\r\n:a@\x7f\x80\0", 10)) {
      std::string other(head);
      other[at] = byte;
      agree = agree && AgreeOn(other);
    }
  }
  return agree;
}

void Cut(benchmark::State& state, Tokeniser tokeniser, std::string_view head) {
  const auto tokens = std::make_unique<Tokens>();
  if (!Agree(head)) {
    state.SkipWithError("the kinds of parser do not agree");
    return;
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(tokeniser(head, *tokens));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * head.size()));
}

BENCHMARK_CAPTURE(Cut, table_wrk, TableTokeniser, kWrk);
BENCHMARK_CAPTURE(Cut, by_hand_wrk, ByteTokeniser, kWrk);
BENCHMARK_CAPTURE(Cut, by_hand_vector_wrk, VectorTokeniser, kWrk);
BENCHMARK_CAPTURE(Cut, table_firefox, TableTokeniser, kFirefox);
BENCHMARK_CAPTURE(Cut, by_hand_firefox, ByteTokeniser, kFirefox);
BENCHMARK_CAPTURE(Cut, by_hand_vector_firefox, VectorTokeniser, kFirefox);
BENCHMARK_CAPTURE(Cut, table_chrome, TableTokeniser, kChrome);
BENCHMARK_CAPTURE(Cut, by_hand_chrome, ByteTokeniser, kChrome);
BENCHMARK_CAPTURE(Cut, by_hand_vector_chrome, VectorTokeniser, kChrome);

// And the parser that also knows what the parts mean.
void Parse(benchmark::State& state, std::string_view head) {
  const ParserLimits limits;
  HttpParser parser(limits);
  Request request;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parser.Parse(head, request));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * head.size()));
}
BENCHMARK_CAPTURE(Parse, wrk, kWrk);
BENCHMARK_CAPTURE(Parse, firefox, kFirefox);
BENCHMARK_CAPTURE(Parse, chrome, kChrome);

}  // namespace
}  // namespace TURTLE_SERVER::bench
