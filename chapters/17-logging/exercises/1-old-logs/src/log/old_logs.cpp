#include "log/old_logs.h"

namespace TURTLE_SERVER {

auto RemoveOldLogs(const std::string& /*path*/, std::size_t /*keep*/) -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
