// Parses a line of the statsd format, in which programs report measurements:
//
//    requests:1|c            a counter: one more
//    requests:1|c|@0.1       one that was reported in place of ten
//    queue:17|g              a gauge: 17 now          queue:-3|g   three fewer
//    render:12.5|ms          a timer: it took 12.5 milliseconds; |h means the same
//    users:ada|s             a set: how many different members there are
//    requests:1|c|#a:b,c     with tags, which are ignored
//
// A datagram may have several, separated by line feeds. Strangers write them, so a line is either
// valid or refused as a whole, with the reason.
//
// Thread: pure functions. Nothing here allocates.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/namespace.h"

namespace turtle_examples {

/// The kind of a measurement.
enum class MetricKind : std::uint8_t { kCounter, kGauge, kTimer, kSet };

/// The content of one line. Views are into the line.
struct Metric {
  std::string_view name;
  MetricKind kind = MetricKind::kCounter;
  double value = 0;         ///< of a counter, gauge or timer
  bool relative = false;    ///< a gauge's value had a sign: it is added
  double rate = 1;          ///< of a counter or timer: the reported share of the events, at most 1
  std::string_view member;  ///< of a set
};

/// The fault of a line.
enum class LineFault : std::uint8_t {
  kNone,
  kName,   ///< missing, longer than kMaxMetricName, or other bytes than letters, digits and "._-/"
  kValue,  ///< missing, not a number, or beyond kMostValue; a set's member longer than kMaxMember
  kType,   ///< missing, or other than c, g, ms, h, s
  kRate,   ///< not a number, not in [kLeastRate, 1], or not allowed here; or the field is
           ///< unknown
};

inline constexpr std::size_t kLineFaults = 5;       ///< how many LineFaults there are
inline constexpr std::size_t kMaxMetricName = 200;  ///< bytes
inline constexpr std::size_t kMaxMember = 200;      ///< bytes
inline constexpr std::size_t kMaxNumber = 40;       ///< bytes
inline constexpr double kMostValue = 1e15;          ///< so that no sum of them becomes infinite
inline constexpr double kLeastRate = 1e-6;          ///< likewise

/// Describes a fault for a report.
constexpr auto FaultName(LineFault fault) -> std::string_view {
  constexpr std::array<std::string_view, kLineFaults> names = {"none", "name", "value", "type",
                                                               "rate"};
  return names[static_cast<std::size_t>(fault)];
}

/// Takes the next line off `rest`, and returns it without its line feed, and without a carriage
/// return before that.
/// @return nullopt if there is none. The line may be empty, and should then be ignored.
inline auto TakeLine(std::string_view& rest) -> std::optional<std::string_view> {
  if (rest.empty()) {
    return std::nullopt;
  }
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  return line;
}

/// Parses a decimal number: 5, -0.25, 1e-05. Not "inf", "nan", "0x1p3" or " 5", as strtod(3) does.
inline auto ParseNumber(std::string_view text) -> std::optional<double> {
  if (text.empty() || text.size() > kMaxNumber ||
      text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) {
    return std::nullopt;
  }
  std::array<char, kMaxNumber + 1> copy{};  // strtod needs a NUL at the end
  std::memcpy(copy.data(), text.data(), text.size());
  char* end = nullptr;
  const double number = std::strtod(copy.data(), &end);
  if (end != copy.data() + text.size() || !(std::abs(number) <= kMostValue)) {
    return std::nullopt;
  }
  return number;
}

namespace detail {

// Returns the part before the next `mark`, and removes both.
inline auto TakeField(std::string_view& rest, char mark) -> std::string_view {
  const std::size_t end = rest.find(mark);
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return field;
}

inline auto IsName(std::string_view name) -> bool {
  if (name.empty() || name.size() > kMaxMetricName) {
    return false;
  }
  for (const char c : name) {
    const bool known = turtle::ascii::IsLetter(c) || turtle::ascii::IsDigit(c) || c == '.' ||
                       c == '_' || c == '-' || c == '/';
    if (!known) {
      return false;
    }
  }
  return true;
}

inline auto KindOf(std::string_view type) -> std::optional<MetricKind> {
  if (type == "c") {
    return MetricKind::kCounter;
  }
  if (type == "g") {
    return MetricKind::kGauge;
  }
  if (type == "ms" || type == "h") {
    return MetricKind::kTimer;
  }
  return type == "s" ? std::optional(MetricKind::kSet) : std::nullopt;
}

inline auto ReadValue(std::string_view text, Metric& metric) -> bool {
  if (metric.kind == MetricKind::kSet) {
    metric.member = text;
    return !text.empty() && text.size() <= kMaxMember;
  }
  const std::optional<double> number = ParseNumber(text);
  metric.value = number.value_or(0);
  metric.relative =
      metric.kind == MetricKind::kGauge && !text.empty() && (text[0] == '+' || text[0] == '-');
  return number.has_value() && (metric.kind != MetricKind::kTimer || *number >= 0);
}

inline auto ReadExtra(std::string_view field, Metric& metric) -> bool {
  if (!field.empty() && field[0] == '#') {
    return true;  // tags
  }
  const bool may_have_rate =
      metric.kind == MetricKind::kCounter || metric.kind == MetricKind::kTimer;
  if (field.empty() || field[0] != '@' || !may_have_rate) {
    return false;
  }
  const std::optional<double> rate = ParseNumber(field.substr(1));
  metric.rate = rate.value_or(0);
  return metric.rate >= kLeastRate && metric.rate <= 1;
}

}  // namespace detail

/// Parses one line. @return kNone, and `metric` is filled; or its fault
inline auto ParseLine(std::string_view line, Metric& metric) -> LineFault {
  metric = Metric();
  const bool has_value = line.find(':') != std::string_view::npos;
  metric.name = detail::TakeField(line, ':');
  if (!detail::IsName(metric.name)) {
    return LineFault::kName;
  }
  if (!has_value) {
    return LineFault::kValue;
  }
  const std::string_view value = detail::TakeField(line, '|');
  const std::optional<MetricKind> kind = detail::KindOf(detail::TakeField(line, '|'));
  if (!kind) {
    return LineFault::kType;
  }
  metric.kind = *kind;
  if (!detail::ReadValue(value, metric)) {
    return LineFault::kValue;
  }
  while (!line.empty()) {
    if (!detail::ReadExtra(detail::TakeField(line, '|'), metric)) {
      return LineFault::kRate;
    }
  }
  return LineFault::kNone;
}

}  // namespace turtle_examples
