#include "sites/scan_guard.h"

namespace TURTLE_SERVER {

ScanGuard::ScanGuard(std::vector<PathPattern> /*traps*/, const ScanLimits& /*limits*/) {
  // TODO: check the limits, and keep them
}

void ScanGuard::Note(const NetAddress& /*client*/, std::string_view /*path*/, TimePoint /*now*/) {
  // TODO: count, and ban
}

auto ScanGuard::IsBanned(const NetAddress& /*client*/, TimePoint /*now*/) const -> bool {
  return false;  // TODO
}

auto ScanGuard::Clients() const noexcept -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
