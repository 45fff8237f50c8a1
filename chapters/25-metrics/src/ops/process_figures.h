// The kernel's statistics of this process: time, memory, descriptors.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <optional>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Statistics of the process; nullopt: not available on this system.
struct ProcessFigures {
  std::optional<double> cpu_seconds{};              ///< of all threads, including kernel time
  std::optional<double> start_time{};               ///< seconds since 1970
  std::optional<std::uint64_t> resident_bytes{};    ///< memory in use, in RAM
  std::optional<std::uint64_t> virtual_bytes{};     ///< address space in use
  std::optional<std::uint64_t> open_descriptors{};  ///< now, except the one used for counting
  std::optional<std::uint64_t> max_descriptors{};   ///< the soft limit, getrlimit(2)
};

/// Asks the kernel. Takes longer the more descriptors there are: a microsecond for a few. A value
/// that can't be read, for lack of a descriptor or of memory, is nullopt.
[[nodiscard]] auto ReadProcessFigures() noexcept -> ProcessFigures;

}  // namespace TURTLE_SERVER
