// Where a server of `turtle serve` listens: its own places, or those that it was left.
//
// A hand-over neither opens a listener beside others nor closes one: in each may be somebody who
// waits. So there are as many at an address as this process was left, however many it would open.
//
// Interface:
//  * AtPath() and At() find the listeners among the inherited, or open them.
//  * Places() and Names() list all of them.
//  * TakeFiles() and LeaveFiles() say from when and until when their files are ours.
//
// Thread: the owner's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/net_address.h"
#include "core/unix_listener.h"
#include "ops/inherited_listeners.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// The listeners of one server. The files of its paths go with this object; those that a
/// predecessor has made, only after TakeFiles().
class Listening {
 public:
  /// @param inherited what may be there already; outlives the calls of At() and AtPath()
  /// @param server gets the listeners
  /// @param each how many to open at an address; at a path it is one
  Listening(InheritedListeners& inherited, HttpServer& server, std::size_t each = 1)
      : inherited_(inherited), server_(server), each_(each) {}

  /// Listens at a path in the file system. Throws as UnixListener.
  void AtPath(const std::string& path);

  /// Listens at an address. Throws as OpenListeners().
  void At(const NetAddress& address);

  /// Returns all of them, as a client has to write them.
  [[nodiscard]] auto Places() const noexcept -> const std::string& { return places_; }

  /// Returns the name of each of them for a successor, in the order of HttpServer::ListenerFds().
  [[nodiscard]] auto Names() const noexcept -> const std::vector<std::string>& { return names_; }

  /// From now on the predecessor's files are ours: it is about to be told that we serve.
  void TakeFiles();

  /// From now on the files are somebody else's.
  void LeaveFiles();

 private:
  void AddPlace(const std::string& place);

  InheritedListeners& inherited_;
  HttpServer& server_;
  const std::size_t each_;
  std::string places_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<UnixListener>> paths_;  // whose files are ours, or will be
};

}  // namespace TURTLE_SERVER
