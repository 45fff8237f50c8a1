// Writes statistics in two formats: for Prometheus, and for the page of ops/operations.h.
//
// Names follow the conventions of Prometheus: base units, "_total" for counters that only grow,
// "process_" for values that every program has. Label values are loop numbers, names from the
// program, and statuses with a name in HTTP; a client can't create new ones.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "ops/server_figures.h"

namespace TURTLE_SERVER {

/// The readiness of the server.
enum class Readiness : std::uint8_t {
  kStarting,  ///< Not all loops run yet.
  kReady,     ///< New clients are served.
  kDraining   ///< It serves its present clients, and is about to end.
};

/// Returns "starting", "ready" or "draining".
[[nodiscard]] auto ReadinessName(Readiness readiness) noexcept -> std::string_view;

/// The context of the statistics.
struct FiguresOf {
  std::string_view version{};                  ///< of the program
  Readiness readiness = Readiness::kStarting;  ///< when they were read
  std::chrono::milliseconds stuck_after{0};    ///< how long a round may take
};

/// Returns the statistics as text for Prometheus (http/metrics_text.h).
[[nodiscard]] auto MetricsOf(const FiguresNow& now, const FiguresOf& of) -> std::string;

/// Returns the same for the page: JSON, on one line.
[[nodiscard]] auto JsonOf(const FiguresNow& now, const FiguresOf& of) -> std::string;

}  // namespace TURTLE_SERVER
