#include "http/proxy_line.h"

namespace TURTLE_SERVER {

auto ParseProxyLine(std::string_view /*input*/) -> ProxyLine {
  return {};  // TODO
}

}  // namespace TURTLE_SERVER
