// A number that one thread counts and any thread reads.
//
// The number is an atomic that is loaded, changed and stored (memory_order_relaxed). On the usual
// processors these are three plain instructions, without the locked one that several writers would
// need. So it has one writer at a time; a second writer would lose counts. Each loop's counters
// have their own cache lines (kCacheLine). Otherwise two loops would take a line away from each
// other at each request, though they share no number.
//
// Thread: one writes, any reads. Values read from several counters may be from different moments.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The size of a cache line in bytes, the unit that moves between cores: data written by two
/// threads should be at least this far apart.
inline constexpr std::size_t kCacheLine = 64;

/// A count, or a size that grows and shrinks.
class Counter {
 public:
  /// Starts at zero.
  Counter() noexcept = default;
  /// @param value the initial count
  Counter(std::uint64_t value) noexcept : value_(value) {}  // NOLINT: stands for a number
  /// Copies the number.
  Counter(const Counter& other) noexcept : value_(other.Get()) {}
  /// Stores the number of `other`. The writer only.
  auto operator=(const Counter& other) noexcept -> Counter& {
    value_.store(other.Get(), std::memory_order_relaxed);
    return *this;
  }
  ~Counter() = default;

  /// Adds `count`. The writer only.
  void Add(std::uint64_t count) noexcept { value_.store(Get() + count, std::memory_order_relaxed); }

  /// Subtracts `count`. The writer only.
  void Subtract(std::uint64_t count) noexcept {
    value_.store(Get() - count, std::memory_order_relaxed);
  }

  /// Does what Add() does, with a number's syntax.
  auto operator+=(std::uint64_t count) noexcept -> Counter& { return Add(count), *this; }
  /// Adds one.
  auto operator++() noexcept -> Counter& { return *this += 1; }
  /// Does what Subtract() does.
  auto operator-=(std::uint64_t count) noexcept -> Counter& { return Subtract(count), *this; }
  /// Subtracts one.
  auto operator--() noexcept -> Counter& { return *this -= 1; }

  /// Returns the number. Any thread.
  [[nodiscard]] auto Get() const noexcept -> std::uint64_t {
    return value_.load(std::memory_order_relaxed);
  }

  /// Converts to the number.
  operator std::uint64_t() const noexcept { return Get(); }  // NOLINT: stands for a number

 private:
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "it must cost no lock");

  std::atomic<std::uint64_t> value_{0};
};

}  // namespace TURTLE_SERVER
