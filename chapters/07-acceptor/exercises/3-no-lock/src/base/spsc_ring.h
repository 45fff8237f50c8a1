// A queue between two threads: one adds values, the other takes them.
//
// Interface:
//  * Push() and Pop() never wait, neither for room nor for each other.
//
// Thread: Push() one at a time, Pop() one at a time; the two at the same time.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace TURTLE_SERVER {

/// A bounded queue of values that can be moved without an exception.
// TODO: no lock, and no memory except the constructor's.
template <typename T>
class SpscRing {
 public:
  /// @param capacity how many fit
  /// @throws std::invalid_argument, "a ring needs room for one"
  explicit SpscRing(std::size_t capacity) : capacity_(capacity) {
    if (capacity == 0) {
      throw std::invalid_argument("a ring needs room for one");
    }
  }

  SpscRing(const SpscRing&) = delete;
  auto operator=(const SpscRing&) -> SpscRing& = delete;

  /// Destroys the values that are left.
  ~SpscRing() = default;

  /// Adds `value` at the end.
  /// @return false if the ring is full; `value` is then unchanged
  auto Push(T&& value) -> bool {
    const std::lock_guard lock(mutex_);
    if (things_.size() == capacity_) {
      return false;
    }
    things_.push_back(std::move(value));
    return true;
  }

  /// Takes the oldest value; nullopt if there is none.
  auto Pop() -> std::optional<T> {
    const std::lock_guard lock(mutex_);
    if (things_.empty()) {
      return std::nullopt;
    }
    std::optional<T> value(std::move(things_.front()));
    things_.pop_front();
    return value;
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::deque<T> things_;
};

}  // namespace TURTLE_SERVER
