// Statistics in two formats: for Prometheus, and for the page of ops/operations.h.
//
// Names are those of Prometheus' conventions: base units, "_total" for counters that only grow,
// "process_" for values that every program has. The values of labels are numbers of loops, names
// that the program gives, and statuses with a name in HTTP; a client can't make new ones.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "ops/server_figures.h"

namespace TURTLE_SERVER {

/// How the server stands.
enum class Readiness : std::uint8_t {
  kStarting,  ///< Not all loops run yet.
  kReady,     ///< New clients that come to its address are served.
  kDraining   ///< It serves those who are there, and is about to end.
};

/// "starting", "ready", "draining".
[[nodiscard]] auto ReadinessName(Readiness readiness) noexcept -> std::string_view;

/// The context of the statistics.
struct FiguresOf {
  std::string_view version{};                  ///< of the program
  Readiness readiness = Readiness::kStarting;  ///< when they were read
  std::chrono::milliseconds stuck_after{0};    ///< so long a round may take
};

/// Returns the text for Prometheus (http/metrics_text.h).
[[nodiscard]] auto MetricsOf(const FiguresNow& now, const FiguresOf& of) -> std::string;

/// The same for the page: JSON, on one line.
[[nodiscard]] auto JsonOf(const FiguresNow& now, const FiguresOf& of) -> std::string;

}  // namespace TURTLE_SERVER
