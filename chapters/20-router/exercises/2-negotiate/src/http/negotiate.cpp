#include "http/negotiate.h"

namespace TURTLE_SERVER {

auto Negotiate(const Headers& /*fields*/, const std::vector<std::string_view>& /*offers*/)
    -> std::optional<std::size_t> {
  return std::nullopt;  // TODO
}

}  // namespace TURTLE_SERVER
