#include "http/metrics_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

auto IsName(std::string_view text, bool colon) -> bool {
  const auto fits = [colon](char c) {
    return ascii::IsLetter(c) || ascii::IsDigit(c) || c == '_' || (colon && c == ':');
  };
  return !text.empty() && !ascii::IsDigit(text.front()) &&
         std::all_of(text.begin(), text.end(), fits);
}

// In help texts, a quote is not escaped.
void AppendEscaped(std::string_view text, bool quoted, std::string& out) {
  for (const char c : text) {
    if (c == '\n') {
      out.append("\\n");
    } else if (c == '\\' || (quoted && c == '"')) {
      out.append({'\\', c});
    } else {
      out.push_back(c);
    }
  }
}

auto TextOf(std::uint64_t number) -> std::string { return std::to_string(number); }

// Returns the shortest text that means this very number, independently of the locale.
auto TextOf(double number) -> std::string {
  if (std::isnan(number)) {
    return "NaN";
  }
  if (std::isinf(number)) {
    return number > 0 ? "+Inf" : "-Inf";
  }
  std::string text = nlohmann::json(number).dump();
  if (const std::size_t end = text.size() - 2; text.compare(end, 2, ".0") == 0) {
    text.resize(end);  // a whole number
  }
  return text;
}

auto TypeName(MetricType type) -> std::string_view {
  return type == MetricType::kCounter ? "counter"
         : type == MetricType::kGauge ? "gauge"
                                      : "histogram";
}

}  // namespace

void MetricsText::Begin(std::string_view name, MetricType type, std::string_view help) {
  if (!IsName(name, true)) {
    throw std::invalid_argument("\"" + std::string(name) + "\" can't name a metric");
  }
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
    throw std::logic_error("the metric " + std::string(name) + " was begun before");
  }
  names_.emplace_back(name);
  name_ = name;
  text_.append("# HELP ").append(name).append(" ");
  AppendEscaped(help, false, text_);
  text_.append("\n# TYPE ").append(name).append(" ").append(TypeName(type)).append("\n");
}

void MetricsText::Add(const MetricLabels& labels, std::uint64_t value) {
  AddSample("", labels, "", TextOf(value));
}

void MetricsText::Add(const MetricLabels& labels, double value) {
  AddSample("", labels, "", TextOf(value));
}

void MetricsText::AddHistogram(const MetricLabels& labels, const MetricHistogram& histogram) {
  if (histogram.counts.size() != histogram.bounds.size() + 1) {
    throw std::invalid_argument(name_ + ": " + std::to_string(histogram.counts.size()) +
                                " counts for " + std::to_string(histogram.bounds.size()) +
                                " bounds: there must be one more");
  }
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < histogram.bounds.size(); ++i) {
    count += histogram.counts[i];
    const double bound = std::chrono::duration<double>(histogram.bounds[i]).count();
    AddSample("_bucket", labels, TextOf(bound), TextOf(count));
  }
  count += histogram.counts.back();
  AddSample("_bucket", labels, "+Inf", TextOf(count));
  AddSample("_sum", labels, "", TextOf(histogram.sum));
  AddSample("_count", labels, "", TextOf(count));
}

// @param bound of a bucket, which is a label, too; "": none
void MetricsText::AddSample(std::string_view suffix, const MetricLabels& labels,
                            std::string_view bound, std::string_view value) {
  for (const auto& [name, unused] : labels) {
    if (!IsName(name, false) || name.substr(0, 2) == "__") {
      throw std::invalid_argument(name_ + ": \"" + std::string(name) + "\" can't name a label");
    }
  }
  text_.append(name_).append(suffix);
  char before = '{';
  const auto label = [&](std::string_view name, std::string_view text) {
    text_.append(1, before).append(name).append("=\"");
    AppendEscaped(text, true, text_);
    text_.push_back('"');
    before = ',';
  };
  for (const auto& [name, text] : labels) {
    label(name, text);
  }
  if (!bound.empty()) {
    label("le", bound);
  }
  text_.append(before == ',' ? "} " : " ").append(value).append("\n");
}

}  // namespace TURTLE_SERVER
