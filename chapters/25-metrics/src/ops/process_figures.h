// The kernel's counts of this process: time, memory, descriptors.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <optional>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// How the process is doing; nullopt: this system doesn't say.
struct ProcessFigures {
  std::optional<double> cpu_seconds{};              ///< of all threads, in the kernel, too
  std::optional<double> start_time{};               ///< seconds since 1970
  std::optional<std::uint64_t> resident_bytes{};    ///< memory that is really there
  std::optional<std::uint64_t> virtual_bytes{};     ///< addresses that were given out
  std::optional<std::uint64_t> open_descriptors{};  ///< now, but for the one that counts them
  std::optional<std::uint64_t> max_descriptors{};   ///< the soft limit, getrlimit(2)
};

/// Asks the kernel. Takes longer the more descriptors there are: a microsecond for some of them. A
/// value that can't be had, for want of a descriptor or of memory, is nullopt.
[[nodiscard]] auto ReadProcessFigures() noexcept -> ProcessFigures;

}  // namespace TURTLE_SERVER
