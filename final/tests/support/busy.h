// A loop that a test keeps busy.
#pragma once

#include <future>
#include <memory>

#include "core/looper.h"
#include "support/client.h"

namespace TURTLE_SERVER::test {

/// Keeps a loop busy for as long as it lives, while the kernel goes on without the loop.
class Busy {
 public:
  /// Returns once the loop stands still.
  explicit Busy(Looper& looper) {
    auto held = std::make_shared<std::promise<void>>();
    auto holds = held->get_future();
    static_cast<void>(looper.Post([held, go_on = go_on_] {
      held->set_value();
      go_on->get_future().wait_for(kPatience);
    }));
    holds.wait_for(kPatience);
  }
  Busy(const Busy&) = delete;
  auto operator=(const Busy&) -> Busy& = delete;
  ~Busy() { go_on_->set_value(); }

 private:
  const std::shared_ptr<std::promise<void>> go_on_ = std::make_shared<std::promise<void>>();
};

}  // namespace TURTLE_SERVER::test
