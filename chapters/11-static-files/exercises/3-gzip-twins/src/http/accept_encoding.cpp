#include "http/accept_encoding.h"

namespace TURTLE_SERVER {

auto AcceptsGzip(std::string_view /*value*/) -> bool { return false; }

}  // namespace TURTLE_SERVER
