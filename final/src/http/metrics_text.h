// Statistics for Prometheus: the text exposition format, version 0.0.4.
//
//     # HELP http_requests_total Requests, by status.
//     # TYPE http_requests_total counter
//     http_requests_total{code="200"} 17
//
//   MetricsText text;
//   text.Begin("http_requests_total", MetricType::kCounter, "Requests, by status.");
//   text.Add({{"code", "200"}}, std::uint64_t{17});
//
// Interface:
//  * Begin() begins a metric: its name, its type, and a description.
//  * Add() adds a sample to it, AddHistogram() all samples of a distribution.
//  * Take() returns the text.
//
// A label's value may be any text; a line end in it would end the sample and begin another, so it
// is escaped. A name is the programmer's: a wrong one throws, and a metric can't begin twice, since
// all its samples must be together.
//
// Thread: a value.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The Content-Type of the text.
inline constexpr std::string_view kMetricsTextType = "text/plain; version=0.0.4; charset=utf-8";

/// The kind of a metric.
enum class MetricType : std::uint8_t {
  kCounter,   ///< Only grows, until the program restarts; its name ends in "_total".
  kGauge,     ///< Grows and shrinks.
  kHistogram  ///< How often a measured value was at most a bound; AddHistogram().
};

/// Names and values of labels, in the order in which they are written.
using MetricLabels = std::vector<std::pair<std::string_view, std::string_view>>;

/// A distribution of durations.
struct MetricHistogram {
  std::vector<std::chrono::nanoseconds> bounds;  ///< Of the buckets, in increasing order.
  std::vector<std::uint64_t> counts;             ///< Of each bucket; one more: above all bounds.
  double sum = 0;                                ///< Of all values, in seconds.
};

/// Writes the text.
class MetricsText {
 public:
  /// Begins a metric. Throws std::invalid_argument if the name is not valid, and std::logic_error
  /// if there is already one of that name.
  /// @param name letters, digits, '_' and ':', not beginning with a digit
  /// @param type the type of its samples
  /// @param help what it is, in one line
  void Begin(std::string_view name, MetricType type, std::string_view help);

  /// Adds a sample to the metric that was begun last. Throws std::invalid_argument if a label's
  /// name is not valid (letters, digits and '_', not beginning with a digit or "__"), with the text
  /// `turtle_metric: "no label" can't name a label`.
  void Add(const MetricLabels& labels, std::uint64_t value);

  /// Does the same with a number that need not be whole, nor even be a number (NaN).
  void Add(const MetricLabels& labels, double value);

  /// Adds the samples of a distribution: a cumulative count for each bound, in seconds, their sum
  /// and number. Throws like Add(), and std::invalid_argument unless there is one more count than
  /// bounds.
  void AddHistogram(const MetricLabels& labels, const MetricHistogram& histogram);

  /// Returns the text. The object has no further use: it still knows the names of its metrics.
  [[nodiscard]] auto Take() -> std::string { return std::exchange(text_, {}); }

 private:
  void AddSample(std::string_view suffix, const MetricLabels& labels, std::string_view bound,
                 std::string_view value);

  std::string text_;
  std::string name_;                // of the metric that was begun last
  std::vector<std::string> names_;  // of the metrics that were begun
};

}  // namespace TURTLE_SERVER
