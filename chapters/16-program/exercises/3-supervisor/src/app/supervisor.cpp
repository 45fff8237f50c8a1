#include "app/supervisor.h"

namespace TURTLE_SERVER {

// TODO
auto Supervise(const std::function<int()>& /*work*/, std::size_t /*max_crashes*/,
               std::ostream& /*log*/) -> int {
  return -1;
}

}  // namespace TURTLE_SERVER
