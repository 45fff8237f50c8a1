// A server: an address and two callbacks.
//
//   TurtleServer server(NetAddress("0.0.0.0", 20080));
//   server.OnHandle([](Connection* client) { … }).Begin();
//
// Interface:
//  * The constructor binds and listens, so that the port is known before anything runs.
//  * OnHandle() is required, the other callbacks are not.
//  * Block() and SetMaxConnections() decide which clients are let in.
//  * Begin() serves until Stop().
//
// Each thread has one loop; the first runs on the thread that calls Begin(), and accepts. Every
// connection lives on one loop, which calls its callbacks on the loop's thread.
//
// Thread: Stop() from any thread and from signal handlers; SetMaxConnections() from any; Block()
// from the first loop's; the rest from the owner's, before Begin().
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/acceptor.h"
#include "core/cidr_set.h"
#include "core/connection.h"
#include "core/looper.h"
#include "core/net_address.h"
#include "core/refusal_log.h"
#include "core/server_options.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// A TCP server on several event loops.
class TurtleServer {
 public:
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

  /// Called for a new client, before its first byte.
  auto OnAccept(ConnectionCallback callback) -> TurtleServer&;

  /// Called when input, its end, or room for output may let a connection go on. Required.
  auto OnHandle(ConnectionCallback callback) -> TurtleServer&;

  /// Called when a deadline has passed, Looper::SetDeadline(). Default: the connection is deleted.
  auto OnTimeout(ConnectionCallback callback) -> TurtleServer&;

  /// Called for each connection when the server is about to stop: it should finish and delete the
  /// connection. Default: the connection is deleted once its bytes are sent.
  auto OnStop(ConnectionCallback callback) -> TurtleServer&;

  /// Called instead of OnAccept() for a client above ServerOptions::max_connections: it may write a
  /// last word, which is sent before the client is dropped. It is not called while as many clients
  /// are on their way out as may stay; then they get no last word. Default: none. At most once a
  /// second, each loop logs how many were refused.
  auto OnFull(ConnectionCallback callback) -> TurtleServer&;

  /// From now on, closes clients from these addresses as soon as they are accepted. Clients already
  /// in stay. On the first loop's thread, or before Begin().
  void Block(CidrSet addresses) { blocked_ = std::move(addresses); }

  /// Replaces ServerOptions::max_connections from now on. No client is dropped for it. Any
  /// thread.
  void SetMaxConnections(std::size_t count) noexcept {
    max_connections_.store(count, std::memory_order_relaxed);
  }

  /// Serves until Stop(). Throws std::logic_error without OnHandle() or a listener, and
  /// std::system_error if the threads can't be started. If a loop throws, stops the others and
  /// rethrows. Runs once.
  void Begin();

  /// Ends Begin(): no more clients are accepted, and connected ones may finish within
  /// ServerOptions::stop_timeout. Before Begin(), Begin() returns at once. Async-signal-safe.
  void Stop() noexcept;

  /// Returns the first listener's address, with the port that the kernel chose for port 0.
  [[nodiscard]] auto LocalAddress() const -> NetAddress { return local_address_; }

  /// Returns the loops, of which the first accepts; for per-loop state and for Looper::Post().
  [[nodiscard]] auto Loopers() const -> std::vector<Looper*>;

 private:
  void RunLooper(std::size_t index);
  void Admit(Connection* client);
  void Refuse(Connection* client, Looper& looper, std::size_t limit);

  std::atomic<std::size_t> max_connections_;  // any thread
  CidrSet blocked_;                           // the first loop's thread, once it runs
  std::vector<RefusalLog> refusals_;          // by loop, each on its thread

  // Const after Begin().
  const ServerOptions options_;
  NetAddress local_address_;
  std::vector<Socket> listeners_;
  ConnectionCallback on_accept_;
  ConnectionCallback on_full_;
  ConnectionCallbacks callbacks_;
  std::vector<std::unique_ptr<Looper>> loopers_;  // made in the constructor: Stop() may come early
};

}  // namespace TURTLE_SERVER
