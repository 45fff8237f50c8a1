// Estimates a quantile from a histogram.
//
// Thread: free function without state.
#pragma once

#include <cstdint>
#include <vector>

namespace TURTLE_SERVER {

/// Returns the value that the share `q` of all measurements does not exceed, as far as a histogram
/// shows: within a bucket, measurements count as evenly spread, and the lowest bucket begins at 0.
///
/// @param bounds of the buckets, each greater than the one before, all above 0
/// @param counts how many are in each bucket: above the bound before, at most its own; and last,
///     how many are above all bounds. One more than bounds.
/// @param q 0 to 1
/// @return NaN if nothing was measured; the greatest bound if the result is above all bounds.
/// @throws std::invalid_argument "quantile 1.5: not in 0..1", "3 counts for 4 bounds"
[[nodiscard]] auto Quantile(const std::vector<double>& bounds,
                            const std::vector<std::uint64_t>& counts, double q) -> double;

}  // namespace TURTLE_SERVER
