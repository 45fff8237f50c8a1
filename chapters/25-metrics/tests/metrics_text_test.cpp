// The text exposition format of Prometheus, version 0.0.4.
#include "http/metrics_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace TURTLE_SERVER {
namespace {

auto SampleOf(double value) -> std::string {
  MetricsText text;
  text.Begin("x", MetricType::kGauge, "");
  text.Add({}, value);
  const std::string all = text.Take();
  return all.substr(all.rfind(' ') + 1, all.size() - all.rfind(' ') - 2);
}

TEST(MetricsTextTest, IsWhatTheFormatSays) {
  MetricsText text;
  text.Begin("a_total", MetricType::kCounter, "What a is.");
  text.Add({}, std::uint64_t{17});
  text.Begin("b:c", MetricType::kGauge, "What it is.");
  text.Add({{"loop", "0"}, {"code", "200"}}, std::numeric_limits<std::uint64_t>::max());
  text.Add({{"loop", "1"}}, 0.25);
  EXPECT_EQ(text.Take(),
            "# HELP a_total What a is.\n"
            "# TYPE a_total counter\n"
            "a_total 17\n"
            "# HELP b:c What it is.\n"
            "# TYPE b:c gauge\n"
            "b:c{loop=\"0\",code=\"200\"} 18446744073709551615\n"
            "b:c{loop=\"1\"} 0.25\n");
  EXPECT_EQ(text.Take(), "");
}

TEST(MetricsTextTest, NoTextEndsItsLabelOrItsLine) {
  MetricsText text;
  text.Begin("a", MetricType::kGauge, "one\\two\nthree \"four\"");
  text.Add({{"b", "\"} 1\nfake 2 \\"}}, std::uint64_t{1});
  EXPECT_EQ(text.Take(),
            "# HELP a one\\\\two\\nthree \"four\"\n"
            "# TYPE a gauge\n"
            "a{b=\"\\\"} 1\\nfake 2 \\\\\"} 1\n");
}

TEST(MetricsTextTest, ADistributionIsCumulative) {
  MetricsText text;
  text.Begin("took_seconds", MetricType::kHistogram, "How long.");
  MetricHistogram histogram;
  histogram.bounds = {std::chrono::microseconds(50), std::chrono::milliseconds(250),
                      std::chrono::seconds(10)};
  histogram.counts = {1, 0, 2, 4};
  histogram.sum = 41.5;
  text.AddHistogram({{"loop", "0"}}, histogram);
  EXPECT_EQ(text.Take(),
            "# HELP took_seconds How long.\n"
            "# TYPE took_seconds histogram\n"
            "took_seconds_bucket{loop=\"0\",le=\"5e-05\"} 1\n"
            "took_seconds_bucket{loop=\"0\",le=\"0.25\"} 1\n"
            "took_seconds_bucket{loop=\"0\",le=\"10\"} 3\n"
            "took_seconds_bucket{loop=\"0\",le=\"+Inf\"} 7\n"
            "took_seconds_sum{loop=\"0\"} 41.5\n"
            "took_seconds_count{loop=\"0\"} 7\n");
}

TEST(MetricsTextTest, NumbersAreShortAndExact) {
  EXPECT_EQ(SampleOf(0), "0");
  EXPECT_EQ(SampleOf(0.1), "0.1");
  EXPECT_EQ(SampleOf(1795409490.33), "1795409490.33");
  EXPECT_EQ(SampleOf(-1.5), "-1.5");
  EXPECT_EQ(SampleOf(std::nan("")), "NaN");
  EXPECT_EQ(SampleOf(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(SampleOf(-std::numeric_limits<double>::infinity()), "-Inf");
  for (const double number : {1.0 / 3, 0.1 + 0.2, 1e300, 5e-324}) {
    EXPECT_EQ(std::strtod(SampleOf(number).c_str(), nullptr), number);
  }
}

TEST(MetricsTextTest, AWrongNameIsRefusedByName) {
  MetricsText text;
  for (const std::string name : {"", "1a", "a-b", "a b", "a\n", "ä"}) {
    EXPECT_THROW(text.Begin(name, MetricType::kGauge, ""), std::invalid_argument) << name;
  }
  EXPECT_EQ(text.Take(), "");
  text.Begin("_a1", MetricType::kGauge, "");
  for (const std::string name : {"", "1a", "a:b", "a-b", "__a", "a\""}) {
    EXPECT_THROW(text.Add({{name, ""}}, std::uint64_t{1}), std::invalid_argument) << name;
  }
  try {
    text.Add({{"no label", ""}}, std::uint64_t{1});
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "_a1: \"no label\" can't name a label");
  }
}

TEST(MetricsTextTest, AMetricBeginsOnce) {
  MetricsText text;
  text.Begin("a", MetricType::kGauge, "");
  text.Begin("b", MetricType::kGauge, "");
  EXPECT_THROW(text.Begin("a", MetricType::kGauge, ""), std::logic_error);
}

TEST(MetricsTextTest, ADistributionHasOneCountMoreThanBounds) {
  MetricsText text;
  text.Begin("a", MetricType::kHistogram, "");
  MetricHistogram histogram;
  histogram.bounds = {std::chrono::seconds(1)};
  histogram.counts = {1};
  EXPECT_THROW(text.AddHistogram({}, histogram), std::invalid_argument);
}

}  // namespace
}  // namespace TURTLE_SERVER
