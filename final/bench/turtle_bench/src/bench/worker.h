// One thread of the load: a loop, and its share of the clients.
//
// Interface:
//  * Run() loops on the thread that calls it; Begin() starts the load, Stop() ends it.
//  * Measured(), EndTime(), … return the results. While it runs only the Tally may be read.
//
// Thread: Begin(), Stop() and the Tally any; Run() its own thread; the rest after Run().
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
  /// Throws std::system_error when the process is out of descriptors.
  /// @param plan copied
  /// @param shared outlives the worker
  /// @param events may be called from Begin() until Run() returns
  Worker(WorkerPlan plan, SharedRun& shared, WorkerEvents events);

  /// Runs the load, until Stop(). Throws what Looper::Loop() throws.
  void Run() { looper_.Loop(); }

  /// Starts the load. Once.
  void Begin();

  /// Ends it: what is not answered by now is not waited for.
  void Stop() noexcept { looper_.Stop(); }

  /// The counts and measurements.
  [[nodiscard]] auto Measured() const noexcept -> const Measurements& { return measured_; }

  /// When the load has ended.
  [[nodiscard]] auto EndTime() const noexcept -> TimePoint { return end_time_; }

  /// Requests that were on their way at the end.
  [[nodiscard]] auto Unanswered() const noexcept -> std::uint64_t { return clients_.Unanswered(); }

  /// With a rate: requests that were due and could not be sent before the end.
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
