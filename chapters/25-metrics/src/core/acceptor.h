// Accepts clients on one loop and hands them out among many.
//
// Interface:
//  * Start() watches the listener; Stop() lets go of it and closes it.
//  * Each client goes to the loop that has the fewest; a blocked client is closed at once.
//
// A batch of clients for another loop is one entry in its mailbox, so one lock and one wake-up. A
// listener stays readable when descriptors (EMFILE, ENFILE) or memory run out, or after it was shut
// down: a loop that tried again at once would spin. Instead, accepting rests for
// ListenOptions::retry, and the log gets at most a line a second. The clients wait in the backlog,
// and those already connected notice nothing.
//
// Thread: the home loop's, on it or before it runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/counter.h"
#include "core/cidr_set.h"
#include "core/listen_options.h"
#include "core/looper.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// A listening socket on one loop, and the loops it feeds.
class Acceptor {
 public:
  /// @param home the loop that accepts; may be among the targets
  /// @param listener bound and listening; made non-blocking here
  /// @param targets the loops that get clients; they outlive the acceptor; none: std::logic_error
  /// @param callbacks the handlers of the clients' connections; they outlive the targets
  /// @param options batch, retry, and whether silent clients are held back
  /// @param blocked the addresses that are not let in; nullptr: none.
  ///     Outlives the acceptor, and may change on the home loop's
  ///     thread.
  /// @param turned_away counts blocked clients; nullptr: nothing does. Outlives the acceptor
  Acceptor(Looper& home, Socket listener, const std::vector<Looper*>& targets,
           const ConnectionCallbacks& callbacks, ListenOptions options = {},
           const CidrSet* blocked = nullptr, Counter* turned_away = nullptr);

  /// Calls Stop().
  ~Acceptor();

  Acceptor(const Acceptor&) = delete;
  auto operator=(const Acceptor&) -> Acceptor& = delete;

  /// Begins to accept clients. Throws std::system_error if the poller can't watch the listener.
  void Start();

  /// If it was started, stops accepting and closes the listener. Clients already accepted are still
  /// handed over. Repeated, nothing happens.
  void Stop();

 private:
  // A loop and the clients on their way to it. Both the acceptor and the loop write `waiting` once
  // a batch, so they don't compete for its cache line at every client.
  struct Target {
    explicit Target(Looper* target_looper) : looper(target_looper) {}

    Looper* const looper;
    std::atomic<std::size_t> waiting{0};  // handed over, not yet added
    std::size_t load = 0;                 // within one batch
    std::vector<UniqueFd> batch;
  };

  void OnEvent(const PollEvent& event);
  void OnClients();
  void AcceptBatch();
  auto IsBlocked(const NetAddress& client) const noexcept -> bool;
  auto Fewest() -> Target&;
  void HandOver(const std::shared_ptr<Target>& target);
  void Rest(int error);

  Looper& home_;
  Socket listener_;
  const std::string name_;  // its address; a listener that was shut down has none
  const ConnectionCallbacks& callbacks_;
  const ListenOptions options_;
  const CidrSet* const blocked_;
  Counter* const turned_away_;
  // Shared with mailbox entries on their way, which may run after the acceptor is gone.
  std::vector<std::shared_ptr<Target>> targets_;
  std::optional<WatchId> watch_;
  std::optional<TimerId> retry_;
  std::optional<TimePoint> logged_;
  std::size_t failures_ = 0;  // clients in a row that failed
};

}  // namespace TURTLE_SERVER
