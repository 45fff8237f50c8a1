// A mutex that refuses to be taken in an order in which threads may come to wait for each other.
//
// Two threads that take two locks in different orders may each hold what the other wants, and then
// both wait for ever. It happens when both are there in the same microsecond, so hardly ever, and
// never in a test. But each time, both orders can be seen to occur.
//
// Thread: any.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace TURTLE_SERVER {

/// A mutex with a name. All of a process know in which orders they have been taken.
class CheckedMutex {
 public:
  /// @param name what it is called in errors
  explicit CheckedMutex(std::string name) : name_(std::move(name)) {}

  CheckedMutex(const CheckedMutex&) = delete;
  auto operator=(const CheckedMutex&) -> CheckedMutex& = delete;

  /// It is forgotten, in whichever order it was taken. Nobody holds it.
  ~CheckedMutex() = default;  // TODO

  /// Waits until no other thread holds it.
  ///
  /// @throws std::logic_error instead of a wait that may never end; it is not taken, and nothing
  ///     is remembered: "b" is held already; "a" while "b" is held, but elsewhere a, b
  void Lock();

  /// Takes it if nobody holds it. This never waits, so no order is a wrong one.
  /// @return false: somebody does, this thread perhaps
  [[nodiscard]] auto TryLock() -> bool;

  /// Only by the thread that holds it; in any order.
  void Unlock();

 private:
  const std::string name_;
  std::timed_mutex mutex_;
};

}  // namespace TURTLE_SERVER
