#include "core/deadline_heap.h"

#include <algorithm>

namespace TURTLE_SERVER {

namespace {

auto Later(const DeadlineHeap::Entry& a, const DeadlineHeap::Entry& b) noexcept -> bool {
  return a.when > b.when;
}

}  // namespace

void DeadlineHeap::Push(Entry entry) {
  entries_.push_back(entry);
  std::push_heap(entries_.begin(), entries_.end(), Later);
}

auto DeadlineHeap::PopDue(TimePoint now) -> std::optional<Entry> {
  if (entries_.empty() || entries_.front().when > now) {
    return std::nullopt;
  }
  std::pop_heap(entries_.begin(), entries_.end(), Later);
  const Entry due = entries_.back();
  entries_.pop_back();
  return due;
}

auto DeadlineHeap::Next() const -> std::optional<TimePoint> {
  return entries_.empty() ? std::nullopt : std::optional(entries_.front().when);
}

}  // namespace TURTLE_SERVER
