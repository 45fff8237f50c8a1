#include "ops/slowest_requests.h"

namespace TURTLE_SERVER {

SlowestRequests::SlowestRequests(std::size_t /*count*/) {}  // TODO: make room for them

void SlowestRequests::Add(std::string_view /*target*/, int /*status*/,
                          Clock::duration /*took*/) noexcept {
  // TODO: is it among the slowest?
}

auto SlowestRequests::Read() const -> std::vector<SlowRequest> {
  return {};  // TODO
}

}  // namespace TURTLE_SERVER
