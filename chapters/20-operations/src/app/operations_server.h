// The listener of `turtle serve --operations`: a server of its own, on a thread of its own.
//
// Thread: the owner's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/options.h"
#include "core/unix_listener.h"
#include "web/http_server.h"
#include "web/operations.h"

namespace TURTLE_SERVER {

/// Takes a place such as "127.0.0.1:9507" or "[::1]:9507" apart; nullopt: it is none.
/// @return address or host name, and port
[[nodiscard]] auto ParseHostAndPort(const std::string& text)
    -> std::optional<std::pair<std::string, std::uint16_t>>;

/// Serves the routes of an Operations from construction to destruction.
class OperationsServer {
 public:
  /// Binds, and begins to serve. Throws std::system_error, which names the place, if it can't.
  /// @param places ServeOptions::operations, not empty
  /// @param operations outlives this object
  OperationsServer(const std::string& places, Operations& operations);

  /// Ends it; nobody who looks on keeps it from that.
  ~OperationsServer();

  OperationsServer(const OperationsServer&) = delete;
  auto operator=(const OperationsServer&) -> OperationsServer& = delete;

  /// Where it listens, as a client has to write it.
  [[nodiscard]] auto Places() const -> const std::string& { return places_; }

 private:
  HttpServer server_;
  std::vector<std::unique_ptr<UnixListener>> paths_;
  std::string places_;
  std::thread thread_;
};

}  // namespace TURTLE_SERVER
