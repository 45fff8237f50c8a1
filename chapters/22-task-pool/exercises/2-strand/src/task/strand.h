// Work that is done one after the other, on threads that do other things as well.
//
// The work of one strand is run in the order in which it was submitted, and never two pieces of it
// at a time: one user's orders, for example, or all writes to one file. Different strands don't
// wait for each other, and a strand takes no thread while nothing of it runs.
//
// Thread: any.
#pragma once

#include <cstddef>
#include <functional>

#include "task/task_pool.h"

namespace TURTLE_SERVER {

/// A line of work for a pool.
class Strand {
 public:
  using Work = std::function<void()>;  ///< What it throws is logged.

  /// @param pool outlives it
  /// @param priority of all that it does
  /// @param max_queued so much work may wait; running work is not counted
  Strand(TaskPool& pool, Priority priority, std::size_t max_queued);

  Strand(const Strand&) = delete;
  auto operator=(const Strand&) -> Strand& = delete;

  /// Waiting work is run nevertheless.
  ~Strand();

  /// Leaves work. It may be called by work of the same strand.
  /// @return kFull: so much waits already, or nothing of it does and the pool is full; kStopped:
  ///     the pool is. Accepted work is run, or destroyed when the pool is stopped.
  [[nodiscard]] auto Submit(Work work) -> SubmitResult;
};

}  // namespace TURTLE_SERVER
