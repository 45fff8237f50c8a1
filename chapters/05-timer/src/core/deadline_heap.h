// When to look at which connection again: one deadline for each, moved with every request.
//
// A server that allows a client 60 seconds of silence moves that deadline at every request, and
// almost none ever passes. So moving one later costs nothing here: the loop stores the new time
// beside the connection and leaves the old entry. When the entry comes up, the loop looks at the
// stored time, and if that is later, pushes one new entry. Only a deadline that moves to an earlier
// time than its entry needs its own entry at once.
//
// Interface:
//  * Push() adds an entry, PopDue() takes the earliest that is due, Next() says when that is.
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
  /// A time to look at a descriptor.
  struct Entry {
    TimePoint when;  ///< the time
    int fd;          ///< the number of the connection
  };

  /// Adds an entry. Throws std::bad_alloc.
  void Push(Entry entry);

  /// Takes out the earliest entry if it is due at `now`.
  [[nodiscard]] auto PopDue(TimePoint now) -> std::optional<Entry>;

  /// How many entries there are.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return entries_.size(); }

  /// The time of the earliest entry; nullopt: none.
  [[nodiscard]] auto Next() const -> std::optional<TimePoint>;

 private:
  std::vector<Entry> entries_;  // a binary heap, the earliest at the front
};

static_assert(sizeof(DeadlineHeap::Entry) == 16, "each idle connection has one");

}  // namespace TURTLE_SERVER
