#include "web/rate_limit.h"

#include <utility>

namespace TURTLE_SERVER {

class RateLimit::Table {};

RateLimit::RateLimit(RateLimitOptions /*options*/) {
  // TODO
}

RateLimit::~RateLimit() = default;

auto RateLimit::Take(std::string_view /*client*/, TimePoint /*now*/) -> Clock::duration {
  return {};  // TODO
}

auto RateLimit::Clients() const -> std::size_t {
  return 0;  // TODO
}

auto ClientKey(const NetAddress& address) -> std::string {
  return address.ToString();  // TODO
}

auto LimitRate(std::shared_ptr<RateLimit> /*limit*/, ClockSource /*clock*/) -> Middleware {
  return {};  // TODO
}

}  // namespace TURTLE_SERVER
