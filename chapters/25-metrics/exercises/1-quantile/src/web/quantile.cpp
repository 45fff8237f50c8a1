#include "web/quantile.h"

namespace TURTLE_SERVER {

auto Quantile(const std::vector<double>& /*bounds*/, const std::vector<std::uint64_t>& /*counts*/,
              double /*q*/) -> double {
  return 0;  // TODO: find the bucket, and the place in it
}

}  // namespace TURTLE_SERVER
