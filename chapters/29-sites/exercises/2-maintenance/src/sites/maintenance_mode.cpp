#include "sites/maintenance_mode.h"

namespace TURTLE_SERVER {

MaintenanceMode::MaintenanceMode(std::string /*path*/, const std::vector<std::string>& /*networks*/,
                                 std::chrono::seconds /*retry_after*/) {
  // TODO: check the values, and keep them
}

auto MaintenanceMode::Respond(const NetAddress& /*client*/, TimePoint /*now*/)
    -> std::optional<Response> {
  return std::nullopt;  // TODO: look for the file, but not each time
}

}  // namespace TURTLE_SERVER
