// A server: an address and two callbacks.
//
//   TurtleServer server(NetAddress("0.0.0.0", 20080));
//   server.OnHandle([](Connection* client) { … }).Begin();
//
// Interface:
//  * The constructor binds and listens, so that the port is known before anything runs.
//  * OnHandle() is required, the other callbacks are not.
//  * Begin() serves until Stop().
//
// Each thread has one loop; the first runs on the thread that calls Begin(), and accepts. Every
// connection lives on one loop, which calls its callbacks on the loop's thread.
//
// Thread: Stop() from any thread and from signal handlers; the rest from the owner's, before
// Begin().
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/acceptor.h"
#include "core/connection.h"
#include "core/looper.h"
#include "core/net_address.h"
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

  ~TurtleServer();

  TurtleServer(const TurtleServer&) = delete;
  auto operator=(const TurtleServer&) -> TurtleServer& = delete;

  /// Listens on one more address, such as the IPv6 one. Throws like the constructor.
  auto AlsoListen(const NetAddress& local) -> TurtleServer&;

  /// Called for a new client, before its first byte.
  auto OnAccept(ConnectionCallback callback) -> TurtleServer&;

  /// Called when input, its end, or room for output may let a connection go on. Required.
  auto OnHandle(ConnectionCallback callback) -> TurtleServer&;

  /// Called when a deadline has passed, Looper::SetDeadline(). Default: the connection is deleted.
  auto OnTimeout(ConnectionCallback callback) -> TurtleServer&;

  /// Called for each connection when the server is about to stop: it should finish and delete the
  /// connection. Default: the connection is deleted once its bytes are sent.
  auto OnStop(ConnectionCallback callback) -> TurtleServer&;

  /// Serves until Stop(). Throws std::logic_error without OnHandle(), and std::system_error if the
  /// threads can't be started. If a loop throws, stops the others and rethrows. Runs once.
  void Begin();

  /// Ends Begin(): no more clients are accepted, and connected ones may finish within
  /// ServerOptions::stop_timeout. Before Begin(), Begin() returns at once. Async-signal-safe.
  void Stop() noexcept;

  /// Returns the first listener's address, with the port that the kernel chose for port 0.
  [[nodiscard]] auto LocalAddress() const -> NetAddress { return local_address_; }

  /// Returns the loops, of which the first accepts; for per-loop state and for Looper::Post().
  [[nodiscard]] auto Loopers() const -> std::vector<Looper*>;

 private:
  // Const after Begin().
  const ServerOptions options_;
  NetAddress local_address_;
  std::vector<Socket> listeners_;
  ConnectionCallbacks callbacks_;
  std::vector<std::unique_ptr<Looper>> loopers_;  // made in the constructor: Stop() may come early
};

}  // namespace TURTLE_SERVER
