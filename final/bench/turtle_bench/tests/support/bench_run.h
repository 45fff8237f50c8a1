// A whole run of the load generator in a test, and its results.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <sstream>
#include <string>

#include "bench/load_run.h"
#include "support/json.h"

namespace TURTLE_SERVER::test {

/// Interrupts the run once that many requests have come.
class Enough {
 public:
  explicit Enough(int count) : left_(count) {}

  /// Counts one. @return its number, from 0
  auto Count() -> int {
    const int left = left_.fetch_sub(1);
    if (left == 1) {
      ::kill(::getpid(), SIGINT);
    }
    return first_ - left;
  }

 private:
  std::atomic<int> left_;
  const int first_ = left_;
};

/// The results of a run.
struct Ran {
  int code;
  FlatJson json;
  std::string errors;

  [[nodiscard]] auto Number(const std::string& key) const -> double { return json.Number(key); }
  [[nodiscard]] auto Errors() const -> double {
    double sum = 0;
    for (const auto& [key, value] : json.All()) {
      sum += key.rfind("errors.", 0) == 0 ? std::stod(value) : 0;
    }
    return sum;
  }
};

/// Runs a load whose report is JSON.
inline auto RunWith(const BenchOptions& options) -> Ran {
  std::ostringstream out;
  std::ostringstream errors;
  const int code = RunLoad(options, out, errors);
  return {code, FlatJson(out.str()), errors.str()};
}

/// Expects that many requests, and no error.
inline void ExpectGood(const Ran& ran, int requests) {
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_GE(ran.Number("requests") + ran.Number("unanswered"), requests);
  EXPECT_GT(ran.Number("requests"), 0);
  EXPECT_EQ(ran.Errors(), 0) << ran.errors;
  EXPECT_GT(ran.Number("bytes"), ran.Number("requests"));
  EXPECT_GT(ran.Number("latency_us.mean"), 0);
  EXPECT_LE(ran.Number("latency_us.p50"), ran.Number("latency_us.max"));
  EXPECT_GT(ran.Number("connect_us.mean"), 0);
  EXPECT_GT(ran.Number("first_byte_us.max"), 0);
}

}  // namespace TURTLE_SERVER::test
