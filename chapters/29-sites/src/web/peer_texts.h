// The addresses of clients, as an access log shows them.
//
// Interface:
//  * Of() returns the address of a connection's client, or of a request's.
//
// The kernel forgets the address when the client closes. So Of() is called early, when the head of
// a request is complete, and remembers the text until the connection's end.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/connection.h"
#include "core/net_address.h"
#include "web/exchange_observer.h"

namespace TURTLE_SERVER {

/// The texts of one loop's clients.
class PeerTexts {
 public:
  /// Returns the client's address without its port, until the next call; empty if it is not known.
  /// Asks the kernel once for each connection.
  /// @throws std::bad_alloc
  [[nodiscard]] auto Of(const Connection& connection) -> std::string_view {
    const auto index = static_cast<std::size_t>(connection.GetFd());
    if (index >= peers_.size()) {
      peers_.resize(index + 1);
    }
    Peer& peer = peers_[index];
    if (!(peer.id == connection.Id())) {
      peer.ip = connection.GetPeerAddress().Ip();
      peer.id = connection.Id();
    }
    return peer.ip;
  }

  /// Does the same for a request that is over. Its client is another one if trusted proxies name
  /// it.
  [[nodiscard]] auto Of(const ExchangeRecord& record) -> std::string_view {
    if (record.client == nullptr) {
      return Of(record.connection);
    }
    named_ = record.client->Ip();
    return named_;
  }

 private:
  struct Peer {
    ConnectionId id{-1, 0};
    std::string ip;
  };

  std::vector<Peer> peers_;  // by descriptor
  std::string named_;        // by a proxy
};

}  // namespace TURTLE_SERVER
