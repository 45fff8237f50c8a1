// Opens the clients' connections, and replaces lost ones.
//
// The first ones come little by little, since those that are open need service too. A client whose
// connection has ended is opened again at once, while its neighbours' responses are still to be
// read: the server has something to do meanwhile. The loop closes the old descriptor only at the
// end of the round, so that takes spare ones; a client that finds none left is opened in the next
// round.
//
// Interface:
//  * Start() has every client opened for the first time; Open() opens one at once.
//  * TakeSpare() says whether one may be opened again in this round; if not, Queue() has it
//  opened in the next. Run() is that round.
//  * Settled() says that a client needs no care any more.
//
// Connections, their times and their failures are counted here.
//
// Thread: the loop's, or before it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "bench/client_session.h"
#include "bench/connector.h"
#include "bench/round_task.h"
#include "bench/worker_plan.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// An established connection.
struct Opened {
  UniqueFd socket;  ///< connected
  TimePoint begun;  ///< when connect(2) was called
  TimePoint done;   ///< now
};

/// The events of an Opener.
struct OpenerEvents {
  /// An attempt begins, possibly started by the Opener itself.
  std::function<void(std::uint32_t client)> on_begin;
  /// The client has its connection.
  std::function<void(std::uint32_t client, Opened opened)> on_open;
  /// It has none. The client should pause, or the loop would do nothing else.
  std::function<void(std::uint32_t client)> on_failure;
};

/// Opens the connections of one worker.
class Opener {
 public:
  /// @param looper outlives this object, as do all references
  /// @param round its task calls Run()
  /// @param plan of the worker
  /// @param shared by the run
  /// @param measured has the counters
  /// @param on_unreachable as in WorkerEvents
  /// @param events may call Open()
  Opener(Looper& looper, RoundTask& round, const WorkerPlan& plan, SharedRun& shared,
         Measurements& measured, std::function<void(const std::string& why)> on_unreachable,
         OpenerEvents events);

  /// Opens all clients, from the next round on.
  void Start();

  /// Opens a client's connection at once.
  void Open(std::uint32_t client);

  /// Returns true if a client whose connection has ended in this round may be opened before the
  /// round is over; the caller then does so.
  [[nodiscard]] auto TakeSpare() -> bool;

  /// Opens the client in the next round, or when others have settled.
  void Queue(std::uint32_t client);

  /// Notes that an opened client was closed, or has finished (LoadMode::kIdle).
  void Settled();

  /// Runs a round: opens queued clients, and a few for the first time.
  void Run();

 private:
  void OnOutcome(std::uint32_t client, UniqueFd socket, int error);
  auto MayOpen() const noexcept -> bool;

  RoundTask& round_;
  const WorkerPlan& plan_;
  SharedRun& shared_;
  Measurements& measured_;
  const std::function<void(const std::string& why)> on_unreachable_;
  const OpenerEvents events_;
  Connector connector_;
  std::vector<TimePoint> begun_;     // by client: when its last attempt began
  std::deque<std::uint32_t> queue_;  // clients whose connection has ended
  std::uint32_t next_new_;           // the first that was never opened; beyond all: none
  std::size_t unsettled_ = 0;
  std::size_t spared_ = 0;  // descriptors that this round has done with and not closed
};

}  // namespace TURTLE_SERVER
