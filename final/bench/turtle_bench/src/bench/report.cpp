#include "bench/report.h"

#include <array>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <ostream>
#include <system_error>

namespace TURTLE_SERVER {

namespace {

constexpr double kNanosecondsPerMicrosecond = 1000;

struct Percentile {
  const char* name;
  const char* key;
  double percent;
};

constexpr std::array<Percentile, 5> kPercentiles = {{{"50 %", "p50", 50},
                                                     {"75 %", "p75", 75},
                                                     {"90 %", "p90", 90},
                                                     {"99 %", "p99", 99},
                                                     {"99.9 %", "p999", 99.9}}};

// printf, because streams keep their width and precision for later output.
[[gnu::format(printf, 1, 2)]] auto Format(const char* format, ...) -> std::string {
  std::array<char, 512> text{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return text.data();
}

// Three digits and a unit.
template <std::size_t N>
auto Human(double number, double step, const std::array<const char*, N>& units) -> std::string {
  std::size_t unit = 0;
  while (number >= step - 0.5 && unit + 1 < N) {  // else 999.6 would be written as 1000
    number /= step;
    ++unit;
  }
  const int digits = number < 9.995 ? 2 : (number < 99.95 ? 1 : 0);
  return Format("%.*f %s", unit == 0 && number == static_cast<int>(number) ? 0 : digits, number,
                units[unit]);
}

auto PerSecond(const Report& report, std::uint64_t count) -> double {
  return static_cast<double>(count) / report.seconds;
}

auto LatencyAt(const Report& report, double percent) -> double {
  return static_cast<double>(report.latency.ValueAt(percent)) / kNanosecondsPerMicrosecond;
}

auto MeanLatency(const Report& report) -> double {
  return report.latency.Mean() / kNanosecondsPerMicrosecond;
}

auto MaxLatency(const Report& report) -> double {
  return static_cast<double>(report.latency.Max()) / kNanosecondsPerMicrosecond;
}

void PrintErrors(const Report& report, std::ostream& out) {
  out << Format("  errors       %12" PRIu64, report.totals.Errors());
  const char* before = "  ";
  for (std::size_t i = 0; i < kErrorKinds; ++i) {
    if (report.totals.errors[i] != 0) {
      out << before << report.totals.errors[i] << ' ' << NameOf(static_cast<ErrorKind>(i));
      before = ", ";
    }
  }
  out << '\n';
  if (report.connect_error != 0) {
    out << "               first of connect: "
        << std::generic_category().message(report.connect_error) << '\n';
  }
  if (!report.handshake_error.empty()) {
    out << "               first of handshake: " << report.handshake_error << '\n';
  }
  if (report.unanswered != 0) {
    out << Format("  unanswered   %12" PRIu64 "  at the end\n", report.unanswered);
  }
  if (report.overdue != 0) {
    out << Format("  overdue      %12" PRIu64 "  that were due and could not be sent\n",
                  report.overdue);
  }
}

void PrintTimes(const Report& report, std::ostream& out) {
  const auto line = [&out](const char* name, double mean, double max) {
    out << Format("  %-17s  %10s  %10s\n", name, HumanTime(mean).c_str(), HumanTime(max).c_str());
  };
  out << "\n                           mean         max\n";
  line("to connect", report.connect.Mean(), report.connect.Max());
  if (report.secure) {
    line("to establish TLS", report.handshake.Mean(), report.handshake.Max());
  }
  line("to the first byte", report.first_byte.Mean(), report.first_byte.Max());
  line("to the last byte", MeanLatency(report), MaxLatency(report));
  out << "\n  latency"
      << (report.rate > 0
              ? ", from when each request was due, until the end if it was not answered\n"
              : ", from when each request was sent\n");
  for (const Percentile& each : kPercentiles) {
    out << Format("    %-6s %12s\n", each.name, HumanTime(LatencyAt(report, each.percent)).c_str());
  }
}

auto Plural(std::uint64_t count, const char* what) -> std::string {
  return Format("%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

}  // namespace

auto HumanBytes(double bytes) -> std::string {
  return Human<5>(bytes, 1000, {"B", "kB", "MB", "GB", "TB"});
}

auto HumanTime(double microseconds) -> std::string {
  return Human<3>(microseconds, 1000, {"us", "ms", "s"});
}

auto JsonString(std::string_view text) -> std::string {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += Format("\\u%04x", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + '"';
}

void PrintReport(const Report& report, std::ostream& out) {
  const Totals& totals = report.totals;
  const double cpu = report.user_seconds + report.system_seconds;
  out << report.url << '\n' << "  " << Plural(report.connections, "connection") << ", ";
  if (report.mode == LoadMode::kPipeline) {
    out << "pipeline of " << report.depth;
  } else {
    out << NameOf(report.mode);
  }
  out << ", " << Plural(report.threads, "thread") << Format(", %.2f s", report.seconds);
  if (report.rate > 0) {
    out << Format(", at %g requests/s", report.rate);
  }
  out << "\n\n";
  out << Format("  requests     %12" PRIu64 "  %12.1f/s\n", totals.requests,
                PerSecond(report, totals.requests));
  out << Format("  connections  %12" PRIu64 "  %12.1f/s\n", totals.connections,
                PerSecond(report, totals.connections));
  if (report.secure) {
    out << Format("  handshakes   %12" PRIu64 "  %12.1f/s  ", totals.full + totals.resumed,
                  PerSecond(report, totals.full + totals.resumed))
        << totals.full << " full, " << totals.resumed << " resumed; " << report.tls.version << ' '
        << report.tls.cipher << '\n';
  }
  out << Format("  received     %12s  %12s/s\n",
                HumanBytes(static_cast<double>(totals.bytes)).c_str(),
                HumanBytes(PerSecond(report, totals.bytes)).c_str());
  PrintErrors(report, out);
  PrintTimes(report, out);
  out << Format("\n  CPU of turtle-bench: %.2f s user, %.2f s system", report.user_seconds,
                report.system_seconds);
  if (totals.requests != 0) {
    out << Format(", %.2f us for each request", cpu * 1e6 / static_cast<double>(totals.requests));
  }
  out << '\n';
}

void WriteJson(const Report& report, std::ostream& out) {
  const Totals& totals = report.totals;
  out << R"({"url": )" << JsonString(report.url) << R"(, "mode": ")" << NameOf(report.mode) << '"'
      << Format(R"(, "depth": %)" PRIu32 R"(, "connections": %zu, "threads": %zu)", report.depth,
                report.connections, report.threads)
      << Format(R"(, "seconds": %.6f, "rate": %.3f)", report.seconds, report.rate)
      << Format(R"(, "requests": %)" PRIu64 R"(, "requests_per_second": %.3f)", totals.requests,
                PerSecond(report, totals.requests))
      << Format(R"(, "connections_opened": %)" PRIu64 R"(, "connections_per_second": %.3f)",
                totals.connections, PerSecond(report, totals.connections))
      << Format(R"(, "bytes": %)" PRIu64 R"(, "bytes_per_second": %.1f)", totals.bytes,
                PerSecond(report, totals.bytes))
      << R"(, "errors": {)";
  for (std::size_t i = 0; i < kErrorKinds; ++i) {
    out << Format(R"(%s"%s": %)" PRIu64, i == 0 ? "" : ", ", NameOf(static_cast<ErrorKind>(i)),
                  totals.errors[i]);
  }
  out << '}';
  if (report.secure) {
    out << R"(, "tls": {"version": )" << JsonString(report.tls.version) << R"(, "cipher": )"
        << JsonString(report.tls.cipher)
        << Format(R"(, "full": %)" PRIu64 R"(, "resumed": %)" PRIu64, totals.full, totals.resumed)
        << Format(R"(, "handshake_us": {"mean": %.3f, "max": %.3f}})", report.handshake.Mean(),
                  report.handshake.Max());
  }
  out << Format(R"(, "unanswered": %)" PRIu64 R"(, "overdue": %)" PRIu64, report.unanswered,
                report.overdue)
      << Format(R"(, "connect_us": {"mean": %.3f, "max": %.3f})", report.connect.Mean(),
                report.connect.Max())
      << Format(R"(, "first_byte_us": {"mean": %.3f, "max": %.3f})", report.first_byte.Mean(),
                report.first_byte.Max())
      << Format(R"(, "latency_us": {"mean": %.3f)", MeanLatency(report));
  for (const Percentile& each : kPercentiles) {
    out << Format(R"(, "%s": %.3f)", each.key, LatencyAt(report, each.percent));
  }
  out << Format(R"(, "max": %.3f, "corrected": %s})", MaxLatency(report),
                report.rate > 0 ? "true" : "false")
      << Format(R"(, "cpu_seconds": {"user": %.6f, "system": %.6f}})"
                "\n",
                report.user_seconds, report.system_seconds);
}

}  // namespace TURTLE_SERVER
