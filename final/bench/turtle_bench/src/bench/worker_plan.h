// A worker's input, the state that it shares with the others of a run, and its events.
//
// Interface:
//  * MakePlan() is one worker's share of what the options ask for.
//
// Thread: values; SharedRun any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "bench/load_mode.h"
#include "bench/options.h"
#include "bench/reply_reference.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// The task of a worker.
struct WorkerPlan {
  NetAddress server;                     ///< the server's address
  LoadMode mode = LoadMode::kKeepAlive;  ///< how
  std::size_t connections = 1;           ///< this worker's
  std::string requests;                  ///< the text sent at once: one request or, pipelined, more
  std::uint32_t depth = 1;               ///< how many requests that are
  bool to_head = false;                  ///< the method is HEAD
  bool any_body = false;                 ///< the bodies may differ
  double rate = 0;                       ///< requests per second of this worker; 0: all it can
  Clock::duration first_due{0};          ///< with `rate`: when the first is due, after Begin()
  std::size_t spare = 0;                 ///< descriptors beyond one for each connection
  std::size_t read_size = 0;             ///< of one recv(2); 0: as the library does it
  std::chrono::milliseconds timeout{0};  ///< for a connection, and for a response
};

/// The plan of one worker.
/// @param options of the whole run
/// @param server whom to ask
/// @param number from 0 to `options.threads` - 1
/// @param spare descriptors of this worker beyond one for each connection
[[nodiscard]] auto MakePlan(const BenchOptions& options, const NetAddress& server,
                            std::size_t number, std::size_t spare) -> WorkerPlan;

/// The state that the workers of a run share.
struct SharedRun {
  ReplyReference reference;           ///< the first reply
  std::atomic<bool> reached{false};   ///< somebody has got a connection
  std::atomic<int> connect_error{0};  ///< errno of the first connection that did not come about
};

/// The events of a worker, on its own thread.
struct WorkerEvents {
  /// Nobody has reached the server yet, and this is why: "connect 127.0.0.1:80: ...".
  std::function<void(const std::string& why)> on_unreachable;
  /// LoadMode::kIdle: every connection is held. Told once, though some may be lost later.
  std::function<void()> on_ready;
};

}  // namespace TURTLE_SERVER
