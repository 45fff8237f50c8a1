#include "sites/canonical_redirect.h"

namespace TURTLE_SERVER {

auto CanonicalRedirect(const Request& /*request*/, const std::string& /*name*/,
                       std::string_view /*scheme*/) -> std::optional<Response> {
  return std::nullopt;  // TODO: compare the host, and redirect
}

}  // namespace TURTLE_SERVER
