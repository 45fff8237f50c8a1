// A mutex that the compiler knows about.
//
// Interface:
//  * A member declared with TURTLE_GUARDED_BY(mutex_) may be touched only while mutex_ is
//    held.
//  * MutexLock holds a Mutex until the end of its block.
//  * A function declared with TURTLE_REQUIRES(mutex_) may be called only while mutex_ is held.
//
// Clang checks all of that at compile time, with -Wthread-safety: a forgotten lock is a warning
// there, not a rare crash at night. Other compilers see a plain std::mutex, at no cost.
//
// Why not std::mutex itself: libstdc++ does not annotate it for the analysis.
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

/// On a member: `mutex` must be held to read or write it.
#define TURTLE_GUARDED_BY(mutex) TURTLE_THREAD_ATTRIBUTE(guarded_by(mutex))
/// On a function: its caller must hold the mutexes.
#define TURTLE_REQUIRES(...) TURTLE_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// On a function: it locks, or unlocks, the mutexes (without arguments: the object itself).
#define TURTLE_ACQUIRE(...) TURTLE_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TURTLE_RELEASE(...) TURTLE_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
/// On a class: it can be held; or an object of it holds a mutex for as long as it lives.
#define TURTLE_CAPABILITY(name) TURTLE_THREAD_ATTRIBUTE(capability(name))
#define TURTLE_SCOPED_CAPABILITY TURTLE_THREAD_ATTRIBUTE(scoped_lockable)

namespace TURTLE_SERVER {

/// A std::mutex that the analysis can track.
class TURTLE_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  auto operator=(const Mutex&) -> Mutex& = delete;

  /// Waits until no other thread holds the mutex. Not for a thread that already holds it.
  void Lock() TURTLE_ACQUIRE() { mutex_.lock(); }

  /// Releases the mutex. Only for the thread that holds it.
  void Unlock() TURTLE_RELEASE() { mutex_.unlock(); }

  /// Returns the std::mutex inside, for functions that take only that type.
  [[nodiscard]] auto Native() noexcept -> std::mutex& { return mutex_; }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex until the end of the block.
class TURTLE_SCOPED_CAPABILITY MutexLock {
 public:
  /// Waits until no other thread holds the mutex.
  explicit MutexLock(Mutex& mutex) TURTLE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() TURTLE_RELEASE() { mutex_.Unlock(); }

  MutexLock(const MutexLock&) = delete;
  auto operator=(const MutexLock&) -> MutexLock& = delete;

 private:
  Mutex& mutex_;
};

}  // namespace TURTLE_SERVER
