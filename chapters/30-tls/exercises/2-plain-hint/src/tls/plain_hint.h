// Tells a client that speaks plain HTTP to a port with TLS what is wrong.
//
//   server_options.channel = [channels = tls.Channels()](Connection& connection) {
//     return std::make_unique<PlainHint>(channels(connection));
//   };
//
// A user types "http://example.org:443/", or a load balancer has the wrong setting. TLS responds to
// such a request with an alert, which no client of HTTP can read. This channel responds with a 400.
//
// The first bytes decide. A record of a handshake begins with the byte 0x16 (RFC 8446, section
// 5.1), and a request with its method and a space (RFC 9112, section 3). Here a method has 1 to 16
// letters, all of them from A to Z.
//
// A PROXY header begins like a request, too. So this channel goes into a ProxyChannel, never the
// other way round.
//
// Interface: that of a Channel.
//
// Thread: the loop's.
// Source: RFC 8446, section 5.1; RFC 9112, section 3
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/buffer.h"
#include "core/channel.h"
#include "core/net_address.h"
#include "core/out_queue.h"

namespace TURTLE_SERVER {

/// Passes all bytes to another channel, unless they begin with a request of plain HTTP.
class PlainHint final : public Channel {
 public:
  /// @param inner usually a TlsChannel; not nullptr
  explicit PlainHint(std::unique_ptr<Channel> inner);

  /// Until it is decided whose bytes they are, keeps them, appends nothing, and returns kOpen. No
  /// bytes decide nothing. It is decided as soon as it can be known, however the bytes are cut:
  ///
  /// - After 1 to 16 letters, a space means plain HTTP.
  /// - Any other byte there means the inner channel, and so does a 17th letter. A first byte that
  ///   is no letter from A to Z, such as 0x16, needs no other.
  ///
  /// For plain HTTP, appends the hint to `reply`, and nothing to `plain`, and returns kBroken. The
  /// inner channel never gets a byte.
  ///
  /// The hint is the same for every method: one whole response of HTTP/1.1 with at most 512 bytes.
  /// Its status is 400. The fields are "Content-Type: text/plain", "Connection: close" and
  /// Content-Length. The body contains the words "This port speaks TLS", and ends with a newline.
  ///
  /// For the inner channel, calls its Open() once with all bytes so far, unchanged. These may be 16
  /// more than Channel::Open() allows. Every later call is passed on as it is, without a copy. The
  /// results are those of the inner channel, with the same `plain` and `reply`.
  auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus override;

  /// Returns kNone until the bytes are the inner channel's, then what that returns.
  [[nodiscard]] auto Kept() const noexcept -> KeptInput override;

  /// Returns false until the bytes are the inner channel's, then what that returns.
  [[nodiscard]] auto CanSeal() const noexcept -> bool override;

  /// Passes the bytes on.
  void Seal(std::string_view plain, OutQueue& wire) override;

  /// Does nothing unless the bytes are the inner channel's; then passes the end on.
  void SealEnd(OutQueue& wire) override;

  /// Returns false until the bytes are the inner channel's, then what that returns.
  [[nodiscard]] auto IsSecure() const noexcept -> bool override;

  /// Returns the subject that the inner channel knows, at any time.
  [[nodiscard]] auto PeerSubject() const noexcept -> std::string_view override;

  /// Returns the address that the inner channel knows, at any time.
  [[nodiscard]] auto PeerAddress() const noexcept -> const NetAddress* override;

 private:
  const std::unique_ptr<Channel> inner_;
  bool is_open_ = false;  // the bytes are the inner channel's
  std::string first_;     // the bytes so far, as long as that is not known
};

}  // namespace TURTLE_SERVER
