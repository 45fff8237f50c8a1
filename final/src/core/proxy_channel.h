// The channel of a connection that comes through a proxy: it takes the PROXY header off.
//
// Until the header is complete the connection has no input. A stream that does not begin with one
// breaks the connection, and nothing is sent: a proxy that is trusted always sends it.
//
// Thread: the loop's.
#pragma once

#include <string>
#include <string_view>

#include "core/buffer.h"
#include "core/channel.h"
#include "core/net_address.h"
#include "core/out_queue.h"

namespace TURTLE_SERVER {

/// Reads the header, then passes all bytes. A file is then copied, not sent by sendfile(2).
class ProxyChannel final : public Channel {
 public:
  auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus override;
  [[nodiscard]] auto CanSeal() const noexcept -> bool override { return true; }
  void Seal(std::string_view plain, OutQueue& wire) override { wire.Append(plain); }
  void SealEnd(OutQueue& /*wire*/) override {}

  /// Returns the client's address, once the header has named one.
  [[nodiscard]] auto PeerAddress() const noexcept -> const NetAddress* override;

 private:
  bool is_open_ = false;  // the header is complete
  std::string header_;    // the bytes so far
  NetAddress source_;
};

}  // namespace TURTLE_SERVER
