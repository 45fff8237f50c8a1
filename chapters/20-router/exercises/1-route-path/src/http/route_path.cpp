#include "http/route_path.h"

namespace TURTLE_SERVER {

auto PathOf(std::string_view pattern, const RouteValues& /*values*/) -> std::string {
  return std::string(pattern);  // TODO
}

}  // namespace TURTLE_SERVER
