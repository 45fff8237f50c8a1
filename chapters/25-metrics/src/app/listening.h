// The listeners of `turtle serve`.
//
// Interface:
//  * AtPath() and At() open a listener.
//  * Places() lists all of them.
//
// Thread: the owner's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/net_address.h"
#include "core/unix_listener.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// The listeners of one server. It removes the files of its paths at its end.
class Listening {
 public:
  /// @param server gets the listeners
  explicit Listening(HttpServer& server) : server_(server) {}

  /// Listens at a path in the file system. Throws as UnixListener does.
  void AtPath(const std::string& path);

  /// Listens at an address. Throws as Socket does.
  void At(const NetAddress& address);

  /// Returns all of them in the form that clients use.
  [[nodiscard]] auto Places() const noexcept -> const std::string& { return places_; }

 private:
  void Add(Socket listener, const std::string& place);

  HttpServer& server_;
  std::string places_;
  std::vector<std::unique_ptr<UnixListener>> paths_;  // own their files
};

}  // namespace TURTLE_SERVER
