// A mutex that the compiler knows about.
//
// Interface:
//  * A member that is declared with TURTLE_GUARDED_BY(mutex_) may only be touched while mutex_ is
//    held.
//  * MutexLock holds a Mutex until the end of its block.
//  * A function that is declared with TURTLE_REQUIRES(mutex_) may only be called while it is held.
//
// Clang checks all of that when it compiles, with -Wthread-safety: a forgotten lock is an error
// there, not a rare crash at night. Other compilers see a plain std::mutex, at no cost.
//
// Why not std::mutex itself: in libstdc++ it says nothing to the analysis.
//
// Thread: any.
// Source: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#pragma once

#include <mutex>

#include "base/namespace.h"

#if defined(__clang__)
#define TURTLE_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define TURTLE_THREAD_ATTRIBUTE(attribute)
#endif

/// On a member: to read or write it, `mutex` has to be held.
#define TURTLE_GUARDED_BY(mutex) TURTLE_THREAD_ATTRIBUTE(guarded_by(mutex))
/// On a function: its caller holds the mutexes.
#define TURTLE_REQUIRES(...) TURTLE_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// On a function: it returns with the mutexes (without any: the object itself) locked, or unlocked.
#define TURTLE_ACQUIRE(...) TURTLE_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TURTLE_RELEASE(...) TURTLE_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
/// On a class: it can be held; it holds something as long as it lives.
#define TURTLE_CAPABILITY(name) TURTLE_THREAD_ATTRIBUTE(capability(name))
#define TURTLE_SCOPED_CAPABILITY TURTLE_THREAD_ATTRIBUTE(scoped_lockable)

namespace TURTLE_SERVER {

/// A std::mutex with a name for what it guards.
class TURTLE_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  auto operator=(const Mutex&) -> Mutex& = delete;

  /// Waits until no other thread holds it. Not for a thread that holds it already.
  void Lock() TURTLE_ACQUIRE() { mutex_.lock(); }

  /// Only for the thread that holds it.
  void Unlock() TURTLE_RELEASE() { mutex_.unlock(); }

  /// The same mutex for what takes only the standard's.
  [[nodiscard]] auto Native() noexcept -> std::mutex& { return mutex_; }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex until the end of the block.
class TURTLE_SCOPED_CAPABILITY MutexLock {
 public:
  /// Waits until no other thread holds it.
  explicit MutexLock(Mutex& mutex) TURTLE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() TURTLE_RELEASE() { mutex_.Unlock(); }

  MutexLock(const MutexLock&) = delete;
  auto operator=(const MutexLock&) -> MutexLock& = delete;

 private:
  Mutex& mutex_;
};

}  // namespace TURTLE_SERVER
