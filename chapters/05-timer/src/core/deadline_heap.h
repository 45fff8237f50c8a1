// When to check which connection again: one deadline each, moved with every request.
//
// A server that allows a client 60 seconds of silence moves that deadline at every request, and
// almost none ever passes. So moving a deadline later costs nothing here: the loop stores the new
// time with the connection and leaves the old entry. When the entry comes up, the loop checks the
// stored time, and if that is later, pushes one new entry. Only a deadline that moves to before its
// entry needs a new entry at once.
//
// Interface:
//  * Push() adds an entry, PopDue() takes the earliest due entry, Next() returns the earliest time.
//
// Thread: one at a time, the loop's.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace TURTLE_SERVER {

/// A heap of (time, descriptor).
class DeadlineHeap {
 public:
  /// A time to check a descriptor.
  struct Entry {
    TimePoint when;  ///< the time
    int fd;          ///< the number of the connection
  };

  /// Adds an entry. Throws std::bad_alloc.
  void Push(Entry entry);

  /// Takes out the earliest entry if it is due at `now`.
  [[nodiscard]] auto PopDue(TimePoint now) -> std::optional<Entry>;

  /// Returns the number of entries.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return entries_.size(); }

  /// Returns the time of the earliest entry; nullopt: none.
  [[nodiscard]] auto Next() const -> std::optional<TimePoint>;

 private:
  std::vector<Entry> entries_;  // a binary heap, the earliest at the front
};

static_assert(sizeof(DeadlineHeap::Entry) == 16, "each idle connection has one");

}  // namespace TURTLE_SERVER
