#include "web/connection_ends.h"

#include <sys/socket.h>

#include <cstddef>

namespace TURTLE_SERVER {

auto ConnectionEndsTable::SourceOf(const Connection& connection) -> const NetAddress& {
  NetAddress& source = EndsOf(connection).source;
  if (source.Family() == AF_UNSPEC) {
    source = connection.GetPeerAddress();
  }
  return source;
}

auto ConnectionEndsTable::DestinationOf(const Connection& connection) -> const NetAddress& {
  NetAddress& destination = EndsOf(connection).destination;
  if (destination.Family() == AF_UNSPEC) {
    NetAddress address;
    if (::getsockname(connection.GetFd(), address.Data(), address.Length()) == 0) {
      destination = address;
    }
  }
  return destination;
}

auto ConnectionEndsTable::EndsOf(const Connection& connection) -> ConnectionEnds& {
  const auto index = static_cast<std::size_t>(connection.GetFd());
  if (index >= known_.size()) {
    known_.resize(index + 1);
  }
  Known& known = known_[index];
  if (!(known.id == connection.Id())) {
    known = {connection.Id(), {}};
  }
  return known.ends;
}

}  // namespace TURTLE_SERVER
