// Accepts clients on one loop and hands them out among many.
//
// Interface:
//  * Start() watches the listener, Stop() lets go of it and closes it.
//  * AcceptWaiting() takes everybody whom the kernel has let in by now: closing a listener resets
//    those who still wait in its queue.
//  * Each client goes to the loop that has the fewest; who is blocked is closed at once.
//
// A batch of clients for another loop is one entry in its mailbox, so one lock and one wake-up.
// Out of descriptors (EMFILE, ENFILE) or memory, a listener stays readable, and so does one that
// was shut down: a loop that tried again at once would spin. Accepting rests for
// ListenOptions::retry instead, and the log gets at most a line a second. The clients wait in the
// backlog, and those already connected notice nothing.
//
// Thread: the home loop's, before it runs or in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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
  /// @param targets where the clients go; they outlive the acceptor; none: std::logic_error
  /// @param callbacks what the clients' connections do; outlive the targets
  /// @param options batch, retry, and whether silent clients are kept back
  /// @param blocked who is not let in; nullptr: nobody. Outlives the acceptor, and may change on
  /// the
  ///     home loop's thread.
  /// @param turned_away counts them; nullptr: nobody wants to know. Outlives the acceptor
  Acceptor(Looper& home, Socket listener, const std::vector<Looper*>& targets,
           const ConnectionCallbacks& callbacks, ListenOptions options = {},
           const CidrSet* blocked = nullptr, Counter* turned_away = nullptr);

  /// Stop().
  ~Acceptor();

  Acceptor(const Acceptor&) = delete;
  auto operator=(const Acceptor&) -> Acceptor& = delete;

  /// Begins to accept. Throws std::system_error if the poller can't watch the listener.
  void Start();

  /// Accepts all clients who wait in the kernel's queue now, and hands them over. For the moment
  /// before Stop(), when nobody else has the listener. After Stop(), nothing happens.
  /// @return false: out of descriptors or memory, so that some may still wait; to be tried again
  [[nodiscard]] auto AcceptWaiting() -> bool;

  /// Accepts no more and closes the listener. Clients that were accepted are handed over still.
  /// Repeated, nothing happens.
  void Stop();

 private:
  // A loop and what is on its way to it. `waiting` is written by the acceptor once a batch and by
  // the loop once a batch, so no line is fought over for each client.
  struct Target {
    explicit Target(Looper* target_looper) : looper(target_looper) {}

    Looper* const looper;
    std::atomic<std::size_t> waiting{0};  // handed over, not yet added
    std::size_t load = 0;                 // within one batch
    std::vector<UniqueFd> batch;
  };

  // The reason why a batch ended.
  enum class BatchEnd : std::uint8_t { kFull, kQueueEmpty, kOutOfResources };

  void OnEvent(const PollEvent& event);
  void OnClients();
  auto AcceptBatch() -> BatchEnd;
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
  // Shared with the mailbox entries on their way, which may run after the acceptor has gone.
  std::vector<std::shared_ptr<Target>> targets_;
  std::optional<WatchId> watch_;
  std::optional<TimerId> retry_;
  std::optional<TimePoint> logged_;
  std::size_t failures_ = 0;  // clients that failed, one after the other
};

}  // namespace TURTLE_SERVER
