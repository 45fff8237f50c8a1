// Stores the measurements, in bounded memory.
//
// Strangers choose the names, so their number is limited, and so is the memory of each: a timer
// keeps a sample of 512 values, a set the hashes of 1,024 members. Sums and counts cover all
// values, to 15 digits.
//
// A known name costs no allocation. Thread: one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "statsd_line.h"

namespace turtle_examples {

/// The values of one timer in one interval.
class TimerSample {
 public:
  static constexpr std::size_t kKept = 512;  ///< values, for the percentiles

  TimerSample() { kept_.reserve(kKept); }

  /// Adds a value that was reported in place of 1 / `rate`.
  void Add(double value, double rate) {
    least_ = seen_ == 0 ? value : std::min(least_, value);
    most_ = seen_ == 0 ? value : std::max(most_, value);
    count_ += 1 / rate;
    ++seen_;
    if (kept_.size() < kKept) {
      kept_.push_back(value);
      return;
    }
    // Each value seen so far has the same chance to be kept (Vitter's algorithm R).
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t place = (random_ >> 33U) % seen_;
    if (place < kKept) {
      kept_[static_cast<std::size_t>(place)] = value;
    }
  }

  /// Returns how many values there were, including unreported ones.
  [[nodiscard]] auto Count() const -> double { return count_; }

  /// Returns the smallest and the largest; 0 if there is none.
  [[nodiscard]] auto Least() const -> double { return least_; }
  [[nodiscard]] auto Most() const -> double { return most_; }

  /// Returns the value that `percent` of the kept ones do not exceed (nearest rank).
  [[nodiscard]] auto Percentile(double percent) -> double {
    if (kept_.empty()) {
      return 0;
    }
    const double rank = std::ceil(percent / 100 * static_cast<double>(kept_.size()));
    const std::size_t index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
    std::sort(kept_.begin(), kept_.end());
    return kept_[std::min(index, kept_.size() - 1)];
  }

  /// Begins a new interval.
  void Clear() {
    kept_.clear();
    count_ = least_ = most_ = 0;
    seen_ = 0;
  }

 private:
  std::vector<double> kept_;
  double count_ = 0;
  double least_ = 0;
  double most_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t random_ = 1;
};

/// The members of one set in one interval, by their hashes.
class MemberSet {
 public:
  static constexpr std::size_t kMost = 1024;  ///< members that can be distinguished

  MemberSet() : hashes_(2 * kMost, 0) {}

  void Add(std::string_view member) {
    const std::uint64_t hash = std::hash<std::string_view>()(member) | 1U;  // 0 is a free place
    std::size_t place = (hash >> 1U) % hashes_.size();       // the last bit is always set
    while (hashes_[place] != 0 && hashes_[place] != hash) {  // ends: half of the places are free
      place = (place + 1) % hashes_.size();
    }
    if (hashes_[place] == hash) {
      return;
    }
    if (count_ == kMost) {
      full_ = true;
      return;
    }
    hashes_[place] = hash;
    ++count_;
  }

  [[nodiscard]] auto Count() const -> std::size_t { return count_; }
  [[nodiscard]] auto Full() const -> bool { return full_; }  ///< there were more

  void Clear() {
    std::fill(hashes_.begin(), hashes_.end(), 0);
    count_ = 0;
    full_ = false;
  }

 private:
  std::vector<std::uint64_t> hashes_;
  std::size_t count_ = 0;
  bool full_ = false;
};

/// All metrics, by name.
class StatsdTable {
 public:
  static constexpr std::size_t kExamples = 4;       ///< malformed lines shown in a report
  static constexpr std::size_t kExampleBytes = 40;  ///< of each

  /// @param max_names how many there may be, of all kinds together
  explicit StatsdTable(std::size_t max_names) : max_names_(max_names) {}

  /// Takes the lines of a datagram.
  /// @param cut it was longer: its last line is incomplete, and is not read
  void Take(std::string_view datagram, bool cut = false) {
    if (cut) {
      const std::size_t end = datagram.rfind('\n');
      datagram = datagram.substr(0, end == std::string_view::npos ? 0 : end);
      ++cut_;
    }
    while (const auto line = TakeLine(datagram)) {
      if (!line->empty()) {
        TakeOne(*line);
      }
    }
  }

  /// Returns how many lines were valid.
  [[nodiscard]] auto Taken() const -> std::uint64_t { return taken_; }

  /// Returns how many lines had that fault.
  [[nodiscard]] auto Faults(LineFault fault) const -> std::uint64_t {
    return faults_[static_cast<std::size_t>(fault)];
  }

  /// Returns how many lines had a name above the limit.
  [[nodiscard]] auto Refused() const -> std::uint64_t { return refused_; }

  /// Returns a line for each metric, sorted by name, then the faults. Counters and gauges continue
  /// forever; timers and sets restart with each interval.
  [[nodiscard]] auto Report() -> std::string {
    std::string text;
    for (const auto& [name, sum] : counters_) {
      text += "counter " + name + " " + Number(sum) + "\n";
    }
    for (const auto& [name, value] : gauges_) {
      text += "gauge " + name + " " + Number(value) + "\n";
    }
    for (auto& [name, sample] : timers_) {
      text += "timer " + name + " count=" + Number(sample.Count()) +
              " min=" + Number(sample.Least()) + " p50=" + Number(sample.Percentile(50)) +
              " p90=" + Number(sample.Percentile(90)) + " p99=" + Number(sample.Percentile(99)) +
              " max=" + Number(sample.Most()) + "\n";
    }
    for (const auto& [name, set] : sets_) {
      text += "set " + name + " " + std::to_string(set.Count()) + (set.Full() ? "+" : "") + "\n";
    }
    return text + ReportFaults();
  }

  /// Begins a new interval.
  void BeginInterval() {
    for (auto& entry : timers_) {
      entry.second.Clear();
    }
    for (auto& entry : sets_) {
      entry.second.Clear();
    }
  }

 private:
  template <typename Value>
  using ByName = std::map<std::string, Value, std::less<>>;  // searched by views

  void TakeOne(std::string_view line) {
    Metric metric;
    const LineFault fault = ParseLine(line, metric);
    if (fault != LineFault::kNone) {
      ++faults_[static_cast<std::size_t>(fault)];
      Remember(line);
      return;
    }
    switch (metric.kind) {
      case MetricKind::kCounter:
        With(counters_, metric, [&](double& sum) { sum += metric.value / metric.rate; });
        break;
      case MetricKind::kGauge:
        With(gauges_, metric,
             [&](double& value) { value = metric.relative ? value + metric.value : metric.value; });
        break;
      case MetricKind::kTimer:
        With(timers_, metric, [&](TimerSample& sample) { sample.Add(metric.value, metric.rate); });
        break;
      case MetricKind::kSet:
        With(sets_, metric, [&](MemberSet& set) { set.Add(metric.member); });
        break;
    }
  }

  template <typename Value, typename Change>
  void With(ByName<Value>& values, const Metric& metric, const Change& change) {
    auto found = values.find(metric.name);
    if (found == values.end()) {
      if (names_ == max_names_) {
        ++refused_;
        return;
      }
      found = values.try_emplace(std::string(metric.name)).first;
      ++names_;
    }
    change(found->second);
    ++taken_;
  }

  // Keeps the last few, cut and cleaned: a terminal shows the report, and obeys control bytes.
  void Remember(std::string_view line) {
    Example& example = examples_[next_example_++ % kExamples];
    example.size = std::min(line.size(), kExampleBytes);
    std::transform(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(example.size),
                   example.text.begin(), [](char c) { return c >= ' ' && c <= '~' ? c : '?'; });
  }

  [[nodiscard]] auto ReportFaults() const -> std::string {
    std::string text;
    for (std::size_t i = 1; i < kLineFaults; ++i) {
      if (faults_[i] != 0) {
        text += "malformed " + std::string(FaultName(static_cast<LineFault>(i))) + " " +
                std::to_string(faults_[i]) + "\n";
      }
    }
    for (std::size_t i = 0; i < std::min(next_example_, kExamples); ++i) {
      text += "example " + std::string(examples_[i].text.data(), examples_[i].size) + "\n";
    }
    if (refused_ != 0) {
      text += "refused " + std::to_string(refused_) + ": there are " + std::to_string(max_names_) +
              " names already\n";
    }
    return cut_ == 0 ? text : text + "cut " + std::to_string(cut_) + "\n";
  }

  // Formats as 3, not 3.000000; and as 12.5.
  static auto Number(double number) -> std::string {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.15g", number);
    return text.data();
  }

  struct Example {
    std::array<char, kExampleBytes> text;
    std::size_t size;
  };

  const std::size_t max_names_;
  std::size_t names_ = 0;
  ByName<double> counters_;
  ByName<double> gauges_;
  ByName<TimerSample> timers_;
  ByName<MemberSet> sets_;
  std::array<std::uint64_t, kLineFaults> faults_{};
  std::array<Example, kExamples> examples_{};
  std::size_t next_example_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t cut_ = 0;
};

}  // namespace turtle_examples
