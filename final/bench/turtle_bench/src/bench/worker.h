// One thread of the load: a loop, and its share of the clients.
//
// Interface:
//  * Run() loops on the calling thread; Begin() starts the load, Stop() ends it.
//  * Measured(), EndTime(), … return the results. While it runs only the Tally may be read.
//
// Thread: Begin(), Stop() and the Tally on any; Run() on its own; the rest after Run().
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "bench/client_session.h"
#include "bench/clients.h"
#include "bench/reply_reference.h"
#include "bench/worker_plan.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// Loads a server from one thread.
class Worker {
 public:
  /// Throws std::system_error if the process is out of descriptors.
  /// @param plan copied
  /// @param shared outlives the worker
  /// @param events may be called from Begin() until Run() returns
  Worker(WorkerPlan plan, SharedRun& shared, WorkerEvents events);

  /// Runs the load, until Stop(). Throws as Looper::Loop() does.
  void Run() { looper_.Loop(); }

  /// Starts the load. Once.
  void Begin();

  /// Ends the load without waiting for further responses.
  void Stop() noexcept { looper_.Stop(); }

  /// Returns the counts and measurements.
  [[nodiscard]] auto Measured() const noexcept -> const Measurements& { return measured_; }

  /// Returns when the load has ended.
  [[nodiscard]] auto EndTime() const noexcept -> TimePoint { return end_time_; }

  /// Returns how many requests were under way at the end.
  [[nodiscard]] auto Unanswered() const noexcept -> std::uint64_t { return clients_.Unanswered(); }

  /// With a rate: returns how many due requests could not be sent before the end.
  [[nodiscard]] auto Overdue() const noexcept -> std::uint64_t {
    return clients_.Overdue(end_time_);
  }

 private:
  auto MakeContext() noexcept -> SessionContext;

  const WorkerPlan plan_;
  const WorkerEvents events_;
  Measurements measured_;
  ReplyCheck check_;
  SessionContext context_;
  Looper looper_;
  Clients clients_;
  TimePoint end_time_{};
};

}  // namespace TURTLE_SERVER
