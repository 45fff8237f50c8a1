#include "web/forwarded.h"

namespace TURTLE_SERVER {

auto ClientBehind(const NetAddress& peer, const Headers& /*fields*/, const CidrSet& /*ours*/)
    -> NetAddress {
  return peer;  // TODO
}

}  // namespace TURTLE_SERVER
