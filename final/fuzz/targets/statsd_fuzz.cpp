// Datagrams of statistics against the reference, and a sink's results.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "../../examples/statsd_line.h"
#include "../../examples/statsd_table.h"
#include "reference/statsd.h"
#include "targets/check.h"

namespace {

using namespace TURTLE_SERVER;
using namespace turtle_examples;

auto TypeOf(const Metric& metric) -> std::string {
  switch (metric.kind) {
    case MetricKind::kCounter:
      return "c";
    case MetricKind::kGauge:
      return "g";
    case MetricKind::kTimer:
      return "ms";
    case MetricKind::kSet:
      break;
  }
  return "s";
}

void Compare(const std::string& line) {
  const auto expected = reference::ReadStatistic(line);
  Metric metric;
  const bool right = ParseLine(line, metric) == LineFault::kNone;
  fuzz::Same("right", right, expected.has_value());
  if (!right) {
    return;
  }
  fuzz::Same("name", metric.name, expected->name);
  fuzz::Same("type", TypeOf(metric), expected->type == "h" ? "ms" : expected->type);
  if (metric.kind == MetricKind::kSet) {
    fuzz::Same("member", metric.member, expected->value);
    return;
  }
  fuzz::Same("value", metric.value, std::strtod(expected->value.c_str(), nullptr));
  const bool has_sign = expected->value[0] == '+' || expected->value[0] == '-';
  fuzz::Same("relative", metric.relative, metric.kind == MetricKind::kGauge && has_sign);
  const double rate = expected->rate.empty() ? 1 : std::strtod(expected->rate.c_str(), nullptr);
  fuzz::Same("rate", metric.rate, rate);
}

}  // namespace

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  const std::string_view text = fuzz::TextOf(data, size);
  std::uint64_t lines = 0;
  std::string_view rest = text;
  while (const auto line = TakeLine(rest)) {
    lines += line->empty() ? 0 : 1;
    Compare(std::string(*line));
  }
  StatsdTable table(3);  // few names, so that the limit is reached
  table.Take(text);
  std::uint64_t counted = table.Taken() + table.Refused();
  for (std::size_t i = 1; i < kLineFaults; ++i) {
    counted += table.Faults(static_cast<LineFault>(i));
  }
  fuzz::Same("lines", counted, lines);
  table.Take(text, true);
  const std::string report = table.Report();
  table.BeginInterval();
  const bool harmless = std::all_of(report.begin(), report.end(),
                                    [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  if (!harmless) {
    fuzz::Fail("the report has bytes that a terminal obeys");
  }
  return 0;
}
