#include "task/for_each.h"

namespace TURTLE_SERVER {

void ForEach(TaskPool& /*pool*/, std::size_t count, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < count; ++i) {
    body(i);  // TODO: not on one thread only
  }
}

}  // namespace TURTLE_SERVER
