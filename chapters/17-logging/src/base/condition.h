// A condition variable for a Mutex.
//
// Interface:
//  * Wait() sleeps until it is notified, and lets go of the mutex meanwhile; WaitUntil() does so
//    only up to a time.
//  * NotifyOne() wakes a thread that sleeps, NotifyAll() all of them; with nobody asleep, nothing
//    happens.
//
// Wait() takes no function to look at, other than the standard's: a loop around it does the same,
// and in a loop the compiler sees that what is looked at is guarded.
//
// Thread: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/mutex.h"

namespace TURTLE_SERVER {

/// Where threads sleep until something has changed.
class Condition {
 public:
  /// Lets go of `mutex`, sleeps, and holds it again on return. It may return for nothing, so the
  /// caller looks again.
  void Wait(Mutex& mutex) TURTLE_REQUIRES(mutex) {
    std::unique_lock lock(mutex.Native(), std::adopt_lock);
    changed_.wait(lock);
    lock.release();  // it stays locked: the caller's MutexLock goes on holding it
  }

  /// As Wait(), but only up to `end`: the caller looks at the clock, too.
  void WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point end) TURTLE_REQUIRES(mutex) {
    std::unique_lock lock(mutex.Native(), std::adopt_lock);
    changed_.wait_until(lock, end);
    lock.release();
  }

  /// Wakes one of the threads that sleep.
  void NotifyOne() noexcept { changed_.notify_one(); }

  /// Wakes all threads that sleep.
  void NotifyAll() noexcept { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace TURTLE_SERVER
