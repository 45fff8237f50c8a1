#include "core/throttle.h"

#include <utility>

namespace TURTLE_SERVER {

auto Throttle::Post(Task task) -> bool {
  return mailbox_->Post(std::move(task));  // TODO: not more than limit_ at a time
}

}  // namespace TURTLE_SERVER
