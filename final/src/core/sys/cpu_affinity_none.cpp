// CpuPin for systems that can't pin threads.
#ifndef __linux__

#include <cerrno>

#include "core/cpu_affinity.h"

namespace TURTLE_SERVER {

CpuPin::CpuPin(std::size_t /*index*/) noexcept : error_(ENOTSUP) {}

CpuPin::~CpuPin() = default;

void ReleaseCpu() noexcept {}

}  // namespace TURTLE_SERVER

#endif  // !__linux__
