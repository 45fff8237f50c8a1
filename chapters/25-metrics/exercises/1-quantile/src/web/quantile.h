// Estimates a quantile from a histogram.
//
// Thread: free function without state.
#pragma once

#include <cstdint>
#include <vector>

namespace TURTLE_SERVER {

/// The value that the share `q` of all measurements is at most, as well as a histogram knows it:
/// within a bucket, measurements are taken as evenly spread, and the lowest bucket begins at 0.
///
/// @param bounds of the buckets, each greater than the one before, all above 0
/// @param counts how many are in each bucket: above the bound before, at most its own; and last,
///     how many are above all bounds. One more than bounds.
/// @param q 0 to 1
/// @return NaN: nothing was measured. If it is above all bounds, the greatest bound.
/// @throws std::invalid_argument "quantile 1.5: not in 0..1", "3 counts for 4 bounds"
[[nodiscard]] auto Quantile(const std::vector<double>& bounds,
                            const std::vector<std::uint64_t>& counts, double q) -> double;

}  // namespace TURTLE_SERVER
