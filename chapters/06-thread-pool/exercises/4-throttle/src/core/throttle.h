// Posts to a loop no faster than it can run: a thread that posts too much waits.
//
// Interface: Post() as Looper::Post(), but only so many of its tasks may be waiting.
//
// Thread: any but the loop's, which would wait for itself.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "core/mailbox.h"

namespace TURTLE_SERVER {

/// Limits the tasks posted to a loop. It may be destroyed while its tasks still wait.
class Throttle {
 public:
  /// @param mailbox of the loop: Looper::GetMailbox().
  /// @param limit the most posted tasks that have not run; at least 1.
  Throttle(std::shared_ptr<Mailbox> mailbox, std::size_t limit)
      : mailbox_(std::move(mailbox)), limit_(limit) {}

  /// Waits for a slot, and posts.
  ///
  /// @return false if the loop has ended, perhaps during the wait; `task` will not run.
  [[nodiscard]] auto Post(Task task) -> bool;

 private:
  std::shared_ptr<Mailbox> mailbox_;
  std::size_t limit_;
};

}  // namespace TURTLE_SERVER
