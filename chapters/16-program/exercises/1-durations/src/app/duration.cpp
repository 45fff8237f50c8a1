#include "app/duration.h"

namespace TURTLE_SERVER {

// TODO
auto ParseDuration(std::string_view /*text*/) -> std::optional<std::chrono::seconds> {
  return std::nullopt;
}

}  // namespace TURTLE_SERVER
