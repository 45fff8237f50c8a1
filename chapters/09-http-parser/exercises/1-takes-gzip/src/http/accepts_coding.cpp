#include "http/accepts_coding.h"

namespace TURTLE_SERVER {

auto AcceptsCoding(const Headers& /*fields*/, std::string_view /*coding*/) -> bool {
  return false;  // TODO
}

}  // namespace TURTLE_SERVER
