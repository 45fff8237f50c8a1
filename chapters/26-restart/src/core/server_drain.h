// Ends a server without turning away a client that is already there.
//
// A drain has four phases, in this order:
//  1. Drain time: the server is no longer ready, but still serves as before. A hand-over skips it.
//  2. Empty queues: the clients that the kernel has let in are accepted, and the listeners are
//     closed. In a hand-over they are closed at once, since the queue is the successor's.
//  3. Last chance: each loop serves as before, and ends once it has no connection left. The first
//     loop stops the others, so it waits for them.
//  4. Stop: Looper::Stop(). Requests in progress have the rest of the stop timeout.
// Phases 2 and 3 together last for ServerOptions::last_chance at most, and everything after the
// first phase for ServerOptions::stop_timeout.
//
// Interface:
//  * Begin() starts a drain, Stop() ends the server without one or cuts one short.
//  * GetEnding(), IsLeaving() and Draining() say how the server ends.
//  * OtherEnded() counts ended loops, so that the first one knows when it is the last.
//
// The first call decides how the server ends. If memory runs out, a drain becomes a Stop(), which
// needs none.
//
// Thread: Begin() and the queries, any; Stop(), any, and signal handlers. The loops run each phase
// on their threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "core/acceptor.h"
#include "core/looper.h"
#include "core/server_options.h"

namespace TURTLE_SERVER {

/// Which server serves the clients that the kernel has let in but nobody has accepted, when a
/// server drains.
enum class ListenQueue : std::uint8_t {
  kOurs,       ///< This server: closing the listener would reset each of them.
  kHandedOver  ///< Another process, which has the same listener and already accepts.
};

/// How a server ends. It changes once, and never back:
///
///     kNotYet ──> kStop | kDrain | kHandOver
enum class Ending : std::uint8_t {
  kNotYet,   ///< it serves
  kStop,     ///< by ServerDrain::Stop()
  kDrain,    ///< by a drain that empties the listeners' queues
  kHandOver  ///< by a drain that leaves the queues to a successor
};

/// Ends one server.
class ServerDrain {
 public:
  /// The acceptors of a server, all on its first loop.
  using Acceptors = std::vector<std::unique_ptr<Acceptor>>;

  /// Borrows all three for as long as it lives. `acceptors` is used on the first loop's thread.
  /// @param options the times of a drain
  /// @param loopers the loops; must not be empty when the first function is called
  /// @param acceptors all listeners; closed and removed by a drain
  ServerDrain(const ServerOptions& options, const std::vector<std::unique_ptr<Looper>>& loopers,
              Acceptors& acceptors)
      : options_(options), loopers_(loopers), acceptors_(acceptors) {}

  ServerDrain(const ServerDrain&) = delete;
  auto operator=(const ServerDrain&) -> ServerDrain& = delete;

  /// Must come before the loops'. A loop that never ran runs its tasks when it is destroyed.
  ~ServerDrain() { *lives_ = false; }

  /// Starts the first phase. Repeated, or after Stop(), nothing happens. If the loops don't run
  /// yet, they drain once they do. Any thread.
  /// @param queue which server serves the waiting clients
  void Begin(ListenQueue queue) noexcept;

  /// Stops the first loop, which stops the others. Any thread, and signal handlers.
  void Stop() noexcept;

  /// Counts an ended loop, other than the first. On its thread.
  void OtherEnded() noexcept { ended_.fetch_add(1); }

  /// Returns how the server ends. Any thread.
  [[nodiscard]] auto GetEnding() const noexcept -> Ending {
    return ending_.load(std::memory_order_acquire);
  }

  /// True from the first Begin() or Stop() on. Any thread.
  [[nodiscard]] auto IsLeaving() const noexcept -> bool { return GetEnding() != Ending::kNotYet; }

  /// Returns a flag: true from Begin() on, if that was the first call. For handlers, on any loop.
  [[nodiscard]] auto Draining() const noexcept -> const std::atomic<bool>& { return draining_; }

 private:
  auto Decide(Ending ending) noexcept -> bool;
  template <typename Step>
  void OrStop(const Step& step) noexcept;
  template <typename Step>
  void Post(std::size_t index, Step step);
  void BeginDrain();
  void CloseListeners();
  void EmptyQueues();
  void AwaitLastClients(std::size_t index);

  std::atomic<Ending> ending_{Ending::kNotYet};  // any thread
  std::atomic<bool> draining_{false};            // any thread; follows from ending_
  std::atomic<std::size_t> ended_{0};            // any thread: loops, except the first

  const ServerOptions& options_;
  const std::vector<std::unique_ptr<Looper>>& loopers_;
  Acceptors& acceptors_;  // the first loop's thread

  // Set by the first loop when it closes the listeners, before it posts to the others.
  TimePoint chance_end_;  // of the last chance
  TimePoint end_;         // of the stop timeout

  // Shared with tasks on their way, which may run after this object is gone.
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
};

}  // namespace TURTLE_SERVER
