// The server of `turtle serve --operations`, on its own thread.
//
// Thread: the owner's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/listening.h"
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

/// Serves the routes of an Operations until it is destroyed.
class OperationsServer {
 public:
  /// Listens, and serves from now on. Throws std::system_error, which names the place, on failure,
  /// and std::invalid_argument if a place is neither an address with a port nor `unix:` and a path.
  /// @param places ServeOptions::operations, not empty
  /// @param operations outlives this object
  OperationsServer(const std::string& places, Operations& operations);

  /// Stops it; open pages don't delay that.
  ~OperationsServer();

  OperationsServer(const OperationsServer&) = delete;
  auto operator=(const OperationsServer&) -> OperationsServer& = delete;

  /// Returns its places in the form that clients use.
  [[nodiscard]] auto Places() const noexcept -> const std::string& { return listening_.Places(); }

 private:
  HttpServer server_;
  Listening listening_;
  std::thread thread_;
};

}  // namespace TURTLE_SERVER
