#include "base/recent_count.h"

namespace TURTLE_SERVER {

RecentCount::RecentCount(std::chrono::milliseconds /*slice*/, std::size_t /*slices*/) {}

void RecentCount::Add(TimePoint /*now*/, std::uint64_t /*count*/) noexcept {}  // TODO

auto RecentCount::Sum(TimePoint /*now*/) const noexcept -> std::uint64_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
