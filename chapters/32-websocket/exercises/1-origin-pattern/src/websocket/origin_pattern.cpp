#include "websocket/origin_pattern.h"

#include "base/ascii.h"

namespace TURTLE_SERVER {

auto MatchesOrigin(std::string_view pattern, std::string_view origin) noexcept -> bool {
  return ascii::EqualIgnoreCase(pattern, origin);  // TODO: the star
}

}  // namespace TURTLE_SERVER
