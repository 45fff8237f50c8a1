// Measures the processor time of this program.
#pragma once

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// CPU time in seconds.
struct CpuTime {
  double user = 0;    ///< in the program's own code
  double system = 0;  ///< in the kernel
};

/// Returns the processor time that all threads of this process have used, getrusage(2). Any thread.
[[nodiscard]] auto UsedCpu() noexcept -> CpuTime;

}  // namespace TURTLE_SERVER
