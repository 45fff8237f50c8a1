#include "core/steer_by_address.h"

namespace TURTLE_SERVER {

auto SteerByAddress(int /*listener*/, unsigned /*count*/) noexcept -> int {
  return 0;  // TODO: SO_ATTACH_REUSEPORT_CBPF, socket(7)
}

}  // namespace TURTLE_SERVER
