// A condition variable for a Mutex.
//
// Interface:
//  * Wait() releases the mutex and sleeps until it is notified.
//  * NotifyOne() wakes one sleeping thread, NotifyAll() all of them; without a sleeping thread
//    nothing happens.
//
// Unlike the standard's, Wait() takes no predicate: a loop around it does the same, and in a loop
// the compiler can check that the mutex guards what is read.
//
// Thread: any.
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/mutex.h"

namespace TURTLE_SERVER {

/// Lets threads sleep until something has changed.
class Condition {
 public:
  /// Releases `mutex`, sleeps, and holds it again on return. It may wake for no reason, so the
  /// caller checks again.
  void Wait(Mutex& mutex) TURTLE_REQUIRES(mutex) {
    std::unique_lock lock(mutex.Native(), std::adopt_lock);
    changed_.wait(lock);
    lock.release();  // it stays locked: the caller's MutexLock still holds it
  }

  /// Wakes one of the sleeping threads.
  void NotifyOne() noexcept { changed_.notify_one(); }

  /// Wakes all sleeping threads.
  void NotifyAll() noexcept { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace TURTLE_SERVER
