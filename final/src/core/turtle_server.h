// A server: an address and two callbacks.
//
//   TurtleServer server(NetAddress("0.0.0.0", 20080));
//   server.OnHandle([](Connection* client) { … }).Begin();
//
// Interface:
//  * The constructor binds and listens, so that the port is known before anything runs.
//  * OnHandle() is required, the other callbacks are not.
//  * Block(), SetMaxConnections() and SetAddressLimit() decide which clients are let in.
//  * Begin() serves until Stop(), or until Drain() has let all clients finish.
//  * IsReady() says whether new clients should be sent here.
//
// Each thread has one loop; the first runs on the thread that calls Begin(). It accepts clients and
// hands them to the others, or each loop accepts from its own listener: ServerOptions::accept.
// Every connection lives on one loop, which calls its callbacks on the loop's thread.
//
// Thread: Stop() from any thread and from signal handlers; Drain(), IsReady() and
// SetMaxConnections() from any; Block() and SetAddressLimit() from the first loop's; the rest from
// the owner's, before Begin().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/counter.h"
#include "core/acceptor.h"
#include "core/address_limit.h"
#include "core/cidr_set.h"
#include "core/connection.h"
#include "core/looper.h"
#include "core/net_address.h"
#include "core/refusal_log.h"
#include "core/server_drain.h"
#include "core/server_options.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// The clients that were not let in, so far.
struct Refusals {
  std::uint64_t blocked = 0;           ///< by TurtleServer::Block()
  std::vector<std::uint64_t> no_room;  ///< by max_connections and address_limit, by loop
};

/// A TCP server on several event loops.
class TurtleServer {
 public:
  /// The clients of a loop that may be on their way out while a client above the limit of an
  /// address still gets a last word.
  static constexpr std::size_t kLastWords = 64;

  /// Binds and listens. Throws std::system_error, which names the address, if that fails: another
  /// server is there, or the port needs a privilege.
  /// @param local where to listen; port 0 is any free port, see LocalAddress()
  /// @param options threads, timeouts, the listener
  explicit TurtleServer(const NetAddress& local, ServerOptions options = {});

  /// Makes a server without a listener: AlsoListen() adds each.
  explicit TurtleServer(ServerOptions options);

  ~TurtleServer();

  TurtleServer(const TurtleServer&) = delete;
  auto operator=(const TurtleServer&) -> TurtleServer& = delete;

  /// Listens on one more address, such as the IPv6 one. Throws like the constructor.
  auto AlsoListen(const NetAddress& local) -> TurtleServer&;

  /// Serves one more listener, such as a UnixListener's.
  /// @param listener bound and listening
  auto AlsoListen(Socket listener) -> TurtleServer&;

  /// Serves the listeners of one address, such as those of OpenListeners(). Unless
  /// ServerOptions::accept is kShared, each loop accepts from its own: if there are more listeners
  /// than loops, from several. If there are fewer, the first loop has all, and hands their clients
  /// out.
  /// @param listeners bound and listening, at least one
  auto AlsoListen(std::vector<Socket> listeners) -> TurtleServer&;

  /// Called for a new client, before its first byte.
  auto OnAccept(ConnectionCallback callback) -> TurtleServer&;

  /// Called when input, its end, or room for output may let a connection go on. Required.
  auto OnHandle(ConnectionCallback callback) -> TurtleServer&;

  /// Called when a deadline has passed, Looper::SetDeadline(). Default: the connection is deleted.
  auto OnTimeout(ConnectionCallback callback) -> TurtleServer&;

  /// Called for each connection when the server is about to stop: it should finish and delete the
  /// connection. Default: the connection is deleted once its bytes are sent.
  auto OnStop(ConnectionCallback callback) -> TurtleServer&;

  /// Called instead of OnAccept() for a client above ServerOptions::max_connections or
  /// address_limit: it may write a last word, which is sent before the client is dropped. It is not
  /// called while too many clients are on their way out; then they get no last word. These are as
  /// many as may stay or, for the limit of an address, at least kLastWords. Default: none. At most
  /// once a second, each loop logs how many were refused.
  auto OnFull(ConnectionCallback callback) -> TurtleServer&;

  /// From now on, closes clients from these addresses as soon as they are accepted; other loops
  /// follow soon. Clients already in stay. On the first loop's thread, or before Begin().
  void Block(CidrSet addresses);

  /// Replaces ServerOptions::max_connections from now on. No client is dropped for it. Any
  /// thread.
  void SetMaxConnections(std::size_t count) noexcept {
    max_connections_.store(count, std::memory_order_relaxed);
  }

  /// Replaces ServerOptions::address_limit from now on; other loops follow soon. No client is
  /// dropped for it, and those that came while there was no limit are not counted. On the first
  /// loop's thread, or before Begin().
  /// @param limit has the value 0 for no limit
  void SetAddressLimit(AddressLimit limit);

  /// Serves until Stop() or Drain(). Throws std::logic_error without OnHandle() or a listener, and
  /// std::system_error if the threads can't be started. If a loop throws, stops the others and
  /// rethrows. Runs once.
  void Begin();

  /// Ends Begin(): no more clients are accepted, and connected ones may finish within
  /// ServerOptions::stop_timeout. Before Begin(), Begin() returns at once. Async-signal-safe.
  void Stop() noexcept;

  /// Ends Begin() without turning away a client that is there. IsReady() is false at once. Then:
  ///  * for ServerOptions::drain_time, everything goes on, except what handlers do differently when
  ///    IsReady() is false;
  ///  * every client that the kernel has let in is accepted, and the listeners are closed;
  ///  * for ServerOptions::last_chance, connections are served as before: a connected client may
  ///    have a request on its way. A loop that has no connection left ends;
  ///  * Stop(). Requests in progress have the rest of ServerOptions::stop_timeout.
  ///
  /// Repeated, or after Stop(), nothing happens; Stop() cuts it short. Any thread.
  /// @param queue kHandedOver: the listeners are closed at once, and waiting clients are left alone
  void Drain(ListenQueue queue = ListenQueue::kOurs);

  /// True if new clients should be sent here: not before all loops run, nor from Drain() or Stop()
  /// on. Any thread.
  [[nodiscard]] auto IsReady() const noexcept -> bool {
    return !IsLeaving() && started_.load(std::memory_order_acquire) == loopers_.size();
  }

  /// True from Drain() or Stop() on: the server is about to end. Any thread.
  [[nodiscard]] auto IsLeaving() const noexcept -> bool { return drain_.IsLeaving(); }

  /// True if it is about to end because another process has its listeners, and accepts. So new
  /// clients are served, though not here. Any thread.
  [[nodiscard]] auto IsHandedOver() const noexcept -> bool {
    return drain_.GetEnding() == Ending::kHandOver;
  }

  /// Returns a flag: was Drain() called? For handlers, on any loop; it lives as long as the server.
  [[nodiscard]] auto Draining() const noexcept -> const std::atomic<bool>& {
    return drain_.Draining();
  }

  /// Returns the listeners' descriptors, in the order in which they were added; the server still
  /// owns them. Before Begin().
  [[nodiscard]] auto ListenerFds() const -> std::vector<int>;

  /// Returns the first listener's address, with the port that the kernel chose for port 0.
  [[nodiscard]] auto LocalAddress() const -> NetAddress { return local_address_; }

  /// Returns the loops; for per-loop state and for Looper::Post().
  [[nodiscard]] auto Loopers() const -> std::vector<Looper*>;

  /// Returns the clients that were not let in. Any thread.
  [[nodiscard]] auto GetRefusals() const -> Refusals;

 private:
  // The admission of one loop: its listeners, and the clients that it refuses. The loop's thread,
  // once it runs; any thread may read the counts.
  struct alignas(kCacheLine) LoopAdmission {
    RefusalLog refusals;
    RefusalLog address_refusals{RefusalKind::kByAddress};
    Counter turned_away;
    std::vector<int> own;     // listeners from which this loop alone accepts
    std::vector<int> shared;  // listeners from which it accepts for all
    CidrSet blocked;
    AddressLimit address_limit;
    // The places of the connections that were counted.
    std::unordered_map<const Connection*, AddressPlace> places;
  };

  void Open(std::vector<Socket>& listeners);
  [[nodiscard]] auto EachAccepts(std::size_t listeners) const noexcept -> bool;
  void Prefer(std::size_t index, bool this_cpu) const;
  void RunLooper(std::size_t index);
  [[nodiscard]] auto AdmissionOf(const Looper& looper) noexcept -> LoopAdmission&;
  void Admit(Connection* client);
  auto TakePlace(const Connection* client) -> bool;
  void LeavePlace(const Connection* client) noexcept;
  void Refuse(Connection* client, std::size_t most_parting);

  std::atomic<std::size_t> max_connections_;  // any thread
  std::atomic<std::size_t> started_{0};       // any thread: loops
  std::atomic<bool> counts_addresses_;        // any thread: there is, or was, an address_limit
  AddressCounts address_counts_;              // any thread; outlives the places
  std::vector<LoopAdmission> admissions_;     // by loop

  // Const after Begin().
  const ServerOptions options_;
  NetAddress local_address_;
  std::vector<std::vector<Socket>> listeners_;  // by address
  std::size_t accepting_ = 0;                   // the loops that accept, from the first on
  ConnectionCallback on_accept_;
  ConnectionCallback on_full_;
  ConnectionCallbacks callbacks_;
  std::vector<std::unique_ptr<Looper>> loopers_;  // made in the constructor: Stop() may come early

  // By loop, each on its thread, once it runs.
  std::vector<std::vector<std::unique_ptr<Acceptor>>> acceptors_;

  ServerDrain drain_{options_, loopers_, acceptors_};
};

}  // namespace TURTLE_SERVER
