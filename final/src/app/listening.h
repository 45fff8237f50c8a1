// The listeners of `turtle serve`: newly opened, or inherited.
//
// A hand-over neither opens more listeners at an address nor closes any, because clients may be
// waiting in each. So the inherited number remains, whatever this process would open.
//
// Interface:
//  * AtPath() and At() take inherited listeners, or open new ones.
//  * Places() and Names() list all of them.
//  * TakeFiles() and LeaveFiles() mark when we begin and cease to own their files.
//
// Thread: the owner's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/net_address.h"
#include "core/unix_listener.h"
#include "ops/inherited_listeners.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// The listeners of one server. It removes the files of its paths at its end; those that a
/// predecessor has made, only after TakeFiles().
class Listening {
 public:
  /// @param inherited listeners; outlives the calls of At() and AtPath()
  /// @param server gets the listeners
  /// @param each how many to open at an address; a path gets one
  Listening(InheritedListeners& inherited, HttpServer& server, std::size_t each = 1)
      : inherited_(inherited), server_(server), each_(each) {}

  /// Listens at a path in the file system. Throws as UnixListener does.
  void AtPath(const std::string& path);

  /// Listens at an address. Throws as OpenListeners() does.
  /// @param address where; port 0 is any free one
  /// @param scheme of its clients, for Places(): "http"
  /// @return the port
  auto At(const NetAddress& address, const std::string& scheme = "http") -> std::uint16_t;

  /// Returns all of them in the form that clients use.
  [[nodiscard]] auto Places() const noexcept -> const std::string& { return places_; }

  /// Returns each one's name for a successor, in the order of HttpServer::ListenerFds().
  [[nodiscard]] auto Names() const noexcept -> const std::vector<std::string>& { return names_; }

  /// Takes over the predecessor's files. Call it just before reporting readiness to that process.
  void TakeFiles();

  /// Gives up the files, which belong to a successor from now on.
  void LeaveFiles();

 private:
  void AddPlace(const std::string& place);

  InheritedListeners& inherited_;
  HttpServer& server_;
  const std::size_t each_;
  std::string places_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<UnixListener>> paths_;  // we own their files, or will
};

}  // namespace TURTLE_SERVER
