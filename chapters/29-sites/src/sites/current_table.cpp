#include "sites/current_table.h"

#include <utility>

namespace TURTLE_SERVER {

CurrentTable::CurrentTable(std::shared_ptr<const SiteTable> table) : table_(std::move(table)) {}

void CurrentTable::Replace(std::shared_ptr<const SiteTable> table) {
  const MutexLock lock(mutex_);
  table_.swap(table);  // the old one is destroyed after the lock
  version_.fetch_add(1, std::memory_order_release);
}

auto CurrentTable::Get() const -> std::shared_ptr<const SiteTable> {
  const MutexLock lock(mutex_);
  return table_;
}

}  // namespace TURTLE_SERVER
