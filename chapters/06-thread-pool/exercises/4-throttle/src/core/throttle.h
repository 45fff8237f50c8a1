// Posts to a loop that is not faster than it can be: who posts too much waits.
//
// Interface: Post() as Looper::Post(), but at most so many of its tasks are waiting to be run.
//
// Thread: any but the loop's, which would wait for itself.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "core/mailbox.h"

namespace TURTLE_SERVER {

/// A bound for what others may post to a loop. It may go while its tasks still wait.
class Throttle {
 public:
  /// @param mailbox the loop's: Looper::GetMailbox().
  /// @param limit how many tasks may have been posted here and not been run; at least 1.
  Throttle(std::shared_ptr<Mailbox> mailbox, std::size_t limit)
      : mailbox_(std::move(mailbox)), limit_(limit) {}

  /// Waits for a place, and posts.
  ///
  /// @return false: the loop has ended, perhaps during the wait; `task` will not run.
  [[nodiscard]] auto Post(Task task) -> bool;

 private:
  std::shared_ptr<Mailbox> mailbox_;
  std::size_t limit_;
};

}  // namespace TURTLE_SERVER
