#include "http/cache_status.h"

namespace TURTLE_SERVER {

auto CacheStatusField(const CacheStatus& /*status*/) -> std::string {
  return {};  // TODO
}

}  // namespace TURTLE_SERVER
