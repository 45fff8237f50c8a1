// The server of `turtle serve --operations`, on its own thread.
//
// Thread: the owner's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/hand_over.h"
#include "app/listening.h"
#include "ops/inherited_listeners.h"
#include "ops/operations.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// Splits a place such as "127.0.0.1:9507" or "[::1]:9507"; nullopt if it is malformed.
/// @return address or host name, and port
[[nodiscard]] auto ParseHostAndPort(const std::string& text)
    -> std::optional<std::pair<std::string, std::uint16_t>>;

/// Only a few clients are expected, with short requests: others must not occupy our threads or much
/// memory.
inline constexpr std::size_t kMaxOperationsConnections = 64;

/// Serves the routes of an Operations from Begin() to destruction.
class OperationsServer {
 public:
  /// Listens. Throws std::system_error, which names the place, if that fails, and
  /// std::invalid_argument if a place is neither an address with a port nor `unix:` and a path.
  /// @param places ServeOptions::operations, not empty
  /// @param inherited listeners; used by the constructor only
  /// @param operations outlives this object
  OperationsServer(const std::string& places, InheritedListeners& inherited,
                   Operations& operations);

  /// Stops it; open pages don't delay that.
  ~OperationsServer();

  OperationsServer(const OperationsServer&) = delete;
  auto operator=(const OperationsServer&) -> OperationsServer& = delete;

  /// Starts the thread, which waits for Begin(): while the server can still refuse to start. A
  /// second call does nothing.
  /// @throws std::system_error if there can't be one more thread
  void Start();

  /// Starts to serve, after Start() if need be. A second call does nothing.
  void Begin();

  /// Returns true if it serves. Throws the exception that has ended it since Begin().
  [[nodiscard]] auto IsReady() const -> bool;

  /// Returns its places in the form that clients use.
  [[nodiscard]] auto Places() const noexcept -> const std::string& { return listening_.Places(); }

  /// Takes over the predecessor's files, Listening::TakeFiles().
  void TakeFiles() { listening_.TakeFiles(); }

  /// Adds these listeners to those of a successor.
  void AddTo(HandOverOptions& successor) const;

  /// Leaves the place to a successor, which serves from now on and owns the files.
  void Leave();

 private:
  HttpServer server_;
  Listening listening_;
  std::vector<int> listeners_;
  bool begun_ = false;
  bool left_ = false;  // it ends by itself: a client about to ask once more gets a last chance
  std::promise<void> begin_;
  std::exception_ptr failure_;       // written before failed_
  std::atomic<bool> failed_{false};  // written last by the thread
  std::thread thread_;
};

}  // namespace TURTLE_SERVER
