#include "task/retry_advice.h"

namespace TURTLE_SERVER {

RetryAdvice::RetryAdvice(std::size_t /*threads*/, std::chrono::milliseconds /*task*/,
                         std::chrono::seconds /*most*/) {}

auto RetryAdvice::Next(std::size_t /*queued*/, TimePoint /*now*/) -> std::chrono::seconds {
  return std::chrono::seconds(1);  // TODO: all clients return at the same time
}

}  // namespace TURTLE_SERVER
