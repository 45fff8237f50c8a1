// A number that one thread counts and any thread reads.
//
// An atomic that is read, changed and stored: on the usual processors three plain instructions,
// without the locked one by which two writers would have to agree (memory_order_relaxed). So it has
// one writer at a time; a second would lose what the first has counted meanwhile. Each loop's
// counters have their own cache lines (kCacheLine). Otherwise two loops would take a line away from
// each other at each request, though they share no number.
//
// Thread: one writes, any reads. Values read from several of them don't belong to one moment.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The bytes that processors pass from core to core at once: data that two threads write should be
/// as far apart.
inline constexpr std::size_t kCacheLine = 64;

/// A count, or a size that grows and shrinks.
class Counter {
 public:
  /// Zero.
  Counter() noexcept = default;
  /// @param value to begin with
  Counter(std::uint64_t value) noexcept : value_(value) {}  // NOLINT: stands for a number
  /// A copy of the number.
  Counter(const Counter& other) noexcept : value_(other.Get()) {}
  /// As the writer.
  auto operator=(const Counter& other) noexcept -> Counter& {
    value_.store(other.Get(), std::memory_order_relaxed);
    return *this;
  }
  ~Counter() = default;

  /// Adds. The writer only.
  void Add(std::uint64_t count) noexcept { value_.store(Get() + count, std::memory_order_relaxed); }

  /// Takes off what was added. The writer only.
  void Subtract(std::uint64_t count) noexcept {
    value_.store(Get() - count, std::memory_order_relaxed);
  }

  /// Add(), as a number has it.
  auto operator+=(std::uint64_t count) noexcept -> Counter& { return Add(count), *this; }
  /// Add() one.
  auto operator++() noexcept -> Counter& { return *this += 1; }
  /// Subtract().
  auto operator-=(std::uint64_t count) noexcept -> Counter& { return Subtract(count), *this; }
  /// Subtract() one.
  auto operator--() noexcept -> Counter& { return *this -= 1; }

  /// The number. Any thread.
  [[nodiscard]] auto Get() const noexcept -> std::uint64_t {
    return value_.load(std::memory_order_relaxed);
  }

  /// The number, where one is wanted.
  operator std::uint64_t() const noexcept { return Get(); }  // NOLINT: stands for a number

 private:
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "it must cost no lock");

  std::atomic<std::uint64_t> value_{0};
};

}  // namespace TURTLE_SERVER
