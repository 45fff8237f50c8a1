// The listener of `turtle serve --operations`: a separate server, on its own thread.
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

/// Takes a place such as "127.0.0.1:9507" or "[::1]:9507" apart; nullopt: it is none.
/// @return address or host name, and port
[[nodiscard]] auto ParseHostAndPort(const std::string& text)
    -> std::optional<std::pair<std::string, std::uint16_t>>;

/// Few may come, and with nothing but short requests: who is not one of them holds no thread of
/// ours and not much memory.
inline constexpr std::size_t kMaxOperationsConnections = 64;

/// Serves the routes of an Operations from Begin() to destruction.
class OperationsServer {
 public:
  /// Listens. Throws std::system_error, which names the place, if it can't.
  /// @param places ServeOptions::operations, not empty
  /// @param inherited listeners that are there already; used by the constructor only
  /// @param operations outlives this object
  OperationsServer(const std::string& places, InheritedListeners& inherited,
                   Operations& operations);

  /// Ends it; nobody who looks on keeps it from that.
  ~OperationsServer();

  OperationsServer(const OperationsServer&) = delete;
  auto operator=(const OperationsServer&) -> OperationsServer& = delete;

  /// Serves from now on. Repeated, nothing happens.
  void Begin();

  /// Does it serve? Throws what has ended it since Begin().
  [[nodiscard]] auto IsReady() const -> bool;

  /// Returns where it listens, as a client has to write it.
  [[nodiscard]] auto Places() const noexcept -> const std::string& { return listening_.Places(); }

  /// The predecessor's files are ours, Listening::TakeFiles().
  void TakeFiles() { listening_.TakeFiles(); }

  /// Has a successor given these listeners as well.
  void AddTo(HandOverOptions& successor) const;

  /// The successor serves: it is the one to be asked from now on, and the files are its own.
  void Leave();

 private:
  HttpServer server_;
  Listening listening_;
  std::vector<int> listeners_;
  bool begun_ = false;
  bool left_ = false;  // it ends by itself: a client about to ask once more has a last chance
  std::promise<void> begin_;
  std::exception_ptr failure_;       // written before the next
  std::atomic<bool> failed_{false};  // the thread's last word
  std::thread thread_;
};

}  // namespace TURTLE_SERVER
