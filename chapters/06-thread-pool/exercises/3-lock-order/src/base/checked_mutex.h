// A mutex that refuses locking orders in which threads could wait for each other.
//
// Two threads that take two locks in different orders may each hold the lock that the other needs,
// and then both wait forever. That requires the same microsecond, so it hardly ever happens, and
// never in a test. But each run shows that both orders occur.
//
// Thread: any.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace TURTLE_SERVER {

/// A mutex with a name. All mutexes of a process share the orders in which they were taken.
class CheckedMutex {
 public:
  /// @param name for error messages
  explicit CheckedMutex(std::string name) : name_(std::move(name)) {}

  CheckedMutex(const CheckedMutex&) = delete;
  auto operator=(const CheckedMutex&) -> CheckedMutex& = delete;

  /// Forgets its orders. No thread may hold it.
  ~CheckedMutex() = default;  // TODO

  /// Waits until no other thread holds it.
  ///
  /// @throws std::logic_error instead of a wait that could last forever; then it is not taken, and
  ///     nothing is remembered: "b" is held already; "a" while "b" is held, but elsewhere a, b
  void Lock();

  /// Takes it if it is free. This never waits, so it is correct in any order.
  /// @return false if a thread has it, possibly this one
  [[nodiscard]] auto TryLock() -> bool;

  /// Only for the thread that holds it; in any order.
  void Unlock();

 private:
  const std::string name_;
  std::timed_mutex mutex_;
};

}  // namespace TURTLE_SERVER
