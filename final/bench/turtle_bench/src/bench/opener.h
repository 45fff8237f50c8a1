// Gives clients their connections, and new ones when they have lost them.
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

/// A connection that has come about.
struct Opened {
  UniqueFd socket;  ///< connected
  TimePoint begun;  ///< when connect(2) was called
  TimePoint done;   ///< now
};

/// The events of an Opener.
struct OpenerEvents {
  /// An attempt begins, also one that nobody but the Opener asked for.
  std::function<void(std::uint32_t client)> on_begin;
  /// The client has its connection.
  std::function<void(std::uint32_t client, Opened opened)> on_open;
  /// It has none. The client should rest for a moment, or the loop would do nothing else.
  std::function<void(std::uint32_t client)> on_failure;
};

/// Opens the connections of one worker.
class Opener {
 public:
  /// @param looper outlives this object, as all that is passed by reference
  /// @param round calls Run()
  /// @param plan of the worker
  /// @param shared of the run
  /// @param measured where to count
  /// @param on_unreachable as in WorkerEvents
  /// @param events may call Open()
  Opener(Looper& looper, RoundTask& round, const WorkerPlan& plan, SharedRun& shared,
         Measurements& measured, std::function<void(const std::string& why)> on_unreachable,
         OpenerEvents events);

  /// Has all clients opened, from the next round on.
  void Start();

  /// Opens a client's connection at once.
  void Open(std::uint32_t client);

  /// True if a client whose connection has ended in this round may be opened before the round is
  /// over; the caller does so then.
  [[nodiscard]] auto TakeSpare() -> bool;

  /// Has the client opened in the next round, or when others have settled.
  void Queue(std::uint32_t client);

  /// A client that was opened has been closed, or it has got all that it wants (LoadMode::kIdle).
  void Settled();

  /// A round: opens those who were queued, and a few for the first time.
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
