// Runs work one piece after the other, on threads that do other things as well.
//
// The work of one strand is run in the order of submission, and never two pieces at a time: one
// user's orders, for example, or all writes to one file. Different strands don't wait for each
// other, and a strand occupies no thread while none of its work runs.
//
// Thread: any.
#pragma once

#include <cstddef>
#include <functional>

#include "task/task_pool.h"

namespace TURTLE_SERVER {

/// A queue of work for a pool.
class Strand {
 public:
  using Work = std::function<void()>;  ///< Its exceptions are logged.

  /// @param pool outlives it
  /// @param priority of all its work
  /// @param max_queued how much work may wait; running work is not counted
  Strand(TaskPool& pool, Priority priority, std::size_t max_queued);

  Strand(const Strand&) = delete;
  auto operator=(const Strand&) -> Strand& = delete;

  /// Work that still waits will be run.
  ~Strand();

  /// Submits work. It may be called by work of the same strand.
  /// @return kFull if so much is already waiting, or none is and the pool is full; kStopped if the
  ///     pool is. Accepted work is run, or destroyed when the pool is stopped.
  [[nodiscard]] auto Submit(Work work) -> SubmitResult;
};

}  // namespace TURTLE_SERVER
