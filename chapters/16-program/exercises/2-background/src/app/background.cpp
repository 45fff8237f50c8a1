#include "app/background.h"

namespace TURTLE_SERVER {

// TODO
auto RunInBackground(const std::function<int(const ReadyCallback& ready)>& /*work*/) -> int {
  return -1;
}

}  // namespace TURTLE_SERVER
