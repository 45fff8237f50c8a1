#include "core/client_rate.h"

namespace TURTLE_SERVER {

ClientRate::ClientRate(std::uint32_t /*per_second*/, std::uint32_t /*burst*/,
                       std::size_t /*max_clients*/) {}

auto ClientRate::Admit(const NetAddress& /*client*/, TimePoint /*now*/)
    -> std::chrono::nanoseconds {
  return std::chrono::nanoseconds(0);  // TODO
}

auto ClientRate::Size() const -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
