// A gate at which threads wait until a test opens it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "support/client.h"

namespace TURTLE_SERVER::test {

/// Closed at first. Any thread. Every wait ends after kPatience.
class Gate {
 public:
  /// Waits until it is open.
  void Pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait_for(lock, kPatience, [this] { return open_; });
  }

  /// Opens it permanently.
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

  /// Waits until `count` threads have come to it. @return false: they didn't
  [[nodiscard]] auto AwaitArrivals(std::size_t count) -> bool {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return arrived_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t arrived_ = 0;
  bool open_ = false;
};

/// Opens a gate at the end of a block, so that a test that fails does not wait for it.
class OpensAtEnd {
 public:
  explicit OpensAtEnd(Gate& gate) : gate_(gate) {}
  OpensAtEnd(const OpensAtEnd&) = delete;
  auto operator=(const OpensAtEnd&) -> OpensAtEnd& = delete;
  ~OpensAtEnd() { gate_.Open(); }

 private:
  Gate& gate_;
};

/// Waits until `condition` holds, which is checked repeatedly. @return false after kPatience.
template <typename Condition>
[[nodiscard]] auto Await(Condition condition) -> bool {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

}  // namespace TURTLE_SERVER::test
