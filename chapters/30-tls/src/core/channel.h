// A transform of a connection's bytes on their way from and to its socket, such as encryption.
//
// Interface:
//  * Open() turns bytes from the socket into input of the connection.
//  * Seal() turns output of the connection into bytes for the socket, as soon as CanSeal().
//  * SealEnd() marks the end of the output, before the FIN.
//  * Kept() says whether the channel has input that it could not open yet.
//
// A Channel makes no system call: its connection receives and sends through its loop's Engine. So
// one Channel serves every engine, and the limits, deadlines and pauses of a connection work as
// they do without it. Connection::SetChannel() installs one.
//
// An exception from one of these functions breaks the connection, like a reset.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/buffer.h"
#include "core/net_address.h"
#include "core/out_queue.h"

namespace TURTLE_SERVER {

/// The state of the client's direction after Channel::Open().
enum class ChannelStatus : std::uint8_t {
  kOpen,    ///< more may come
  kEnded,   ///< the client has ended it within the channel; the socket may still be open
  kBroken,  ///< the bytes made no sense: nothing that they produce can be trusted
};

/// The wire bytes that a channel has taken, but not opened.
enum class KeptInput : std::uint8_t {
  kNone,   ///< there are none, or they need further ones
  kWaits,  ///< something else must come first, such as a turn: no input is read until then
  kReady   ///< they can be opened now
};

/// Turns plain bytes into those of the socket, the wire bytes, and back.
class Channel {
 public:
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  auto operator=(const Channel&) -> Channel& = delete;

  /// Opens bytes that have arrived. They may yield nothing yet: the channel keeps what it needs for
  /// the next call. Not called again after kEnded, kBroken or SealEnd().
  /// @param wire any part of the client's stream, in order, at most ReadScratch::kSize bytes; none
  ///     if Kept() is kReady
  /// @param plain gets the opened bytes, appended. A channel that makes many bytes of few limits
  ///     them itself: Connection::kInputLimit is checked only between two calls.
  /// @param reply gets the channel's own wire bytes, such as a handshake; after kBroken, too: they
  ///     are the last that the client gets
  virtual auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus = 0;

  /// Tells whether Open() is to be called without new bytes, or not at all for now. A channel that
  /// leaves kWaits has its connection's handler called, Looper::Schedule(). A connection that is
  /// deleted meanwhile gives up its output. A channel that speaks first, like a client's, is kReady
  /// until its first Open().
  [[nodiscard]] virtual auto Kept() const noexcept -> KeptInput { return KeptInput::kNone; }

  /// False as long as Seal() can't be called, such as before the end of a handshake. The output
  /// waits until Open() changes that.
  [[nodiscard]] virtual auto CanSeal() const noexcept -> bool = 0;

  /// Seals all of some output.
  /// @param plain the next bytes, at most Connection::kSealStep
  /// @param wire gets the sealed bytes, appended
  virtual void Seal(std::string_view plain, OutQueue& wire) = 0;

  /// Seals the end of the output, once; Open() and Seal() are not called after it. Not called for a
  /// connection that is reset. May be called before CanSeal() is true.
  /// @param wire gets the bytes that must precede the FIN, appended
  virtual void SealEnd(OutQueue& wire) = 0;

  /// True if nobody on the way can read or change the bytes.
  [[nodiscard]] virtual auto IsSecure() const noexcept -> bool { return false; }

  /// Returns the subject of the certificate with which the client has proved who it is, as in RFC
  /// 4514: "CN=ada,O=Example"; "" if it has shown none. Valid until the channel is gone.
  [[nodiscard]] virtual auto PeerSubject() const noexcept -> std::string_view { return {}; }

  /// Returns the protocol that both ends have agreed on, such as "http/1.1" (ALPN, RFC 7301); "" if
  /// they have named none. Valid until the channel is gone.
  [[nodiscard]] virtual auto Protocol() const noexcept -> std::string_view { return {}; }

  /// Returns the client's address if the channel knows it better than the socket does; nullptr: it
  /// does not.
  [[nodiscard]] virtual auto PeerAddress() const noexcept -> const NetAddress* { return nullptr; }

 protected:
  Channel() = default;
};

}  // namespace TURTLE_SERVER
