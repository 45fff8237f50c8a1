// The table of sites that is in force, for all loops.
//
// Interface:
//  * Replace() puts another table in force.
//  * Version() shows at no cost whether there is another one; Get() returns it.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "sites/site_table.h"

namespace TURTLE_SERVER {

/// A table that may be replaced while loops use it.
class CurrentTable {
 public:
  /// @param table not nullptr
  explicit CurrentTable(std::shared_ptr<const SiteTable> table);

  /// Replaces the table.
  /// @param table not nullptr
  void Replace(std::shared_ptr<const SiteTable> table);

  /// Returns the number of the table; it grows with each Replace(). It is written once for each
  /// table, so no loop waits for another.
  [[nodiscard]] auto Version() const noexcept -> std::uint64_t {
    return version_.load(std::memory_order_acquire);
  }

  /// Returns the table. It has at least the Version() that was read before.
  [[nodiscard]] auto Get() const -> std::shared_ptr<const SiteTable>;

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const SiteTable> table_ TURTLE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> version_{1};
};

}  // namespace TURTLE_SERVER
