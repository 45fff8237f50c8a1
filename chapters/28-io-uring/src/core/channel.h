// A transform of a connection's bytes on their way from and to its socket, such as encryption.
//
// Interface:
//  * Open() turns bytes from the socket into input of the connection.
//  * Seal() turns output of the connection into bytes for the socket, as soon as CanSeal().
//  * SealEnd() marks the end of the output, before the FIN.
//
// A Channel makes no system call: its connection receives and sends by the Engine of its loop. So
// one Channel serves every engine, and the limits, deadlines and pauses of a connection hold as
// they do without it. Connection::SetChannel() installs one.
//
// An exception from one of these functions breaks the connection, as a reset does.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/buffer.h"
#include "core/out_queue.h"

namespace TURTLE_SERVER {

/// The state of the client's direction after Channel::Open().
enum class ChannelStatus : std::uint8_t {
  kOpen,    ///< more may come
  kEnded,   ///< the client has ended it within the channel; the socket may still be open
  kBroken,  ///< the bytes made no sense: nothing they bring can be trusted from here on
};

/// Turns plain bytes into those of the socket, the wire bytes, and back.
class Channel {
 public:
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  auto operator=(const Channel&) -> Channel& = delete;

  /// Opens bytes that have arrived. They may mean nothing yet: the channel keeps what it needs for
  /// the next call. Not called again after kEnded, kBroken or SealEnd().
  /// @param wire any part of the client's stream, in order, at most ReadScratch::kSize bytes
  /// @param plain gets what they mean, appended. A channel that makes many bytes of few bounds them
  ///     by itself: Connection::kInputLimit is looked at between two calls.
  /// @param reply gets wire bytes of the channel's own, such as a handshake; after kBroken too, the
  ///     last that the client gets
  virtual auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus = 0;

  /// False as long as Seal() can't be called, such as before the end of a handshake. The output
  /// waits for Open() to change that.
  [[nodiscard]] virtual auto CanSeal() const noexcept -> bool = 0;

  /// Seals output: all of it.
  /// @param plain the next bytes, at most Connection::kSealStep
  /// @param wire gets what they become, appended
  virtual void Seal(std::string_view plain, OutQueue& wire) = 0;

  /// Seals the end of the output, once; Open() and Seal() are not called after it. Not called for a
  /// connection that is reset. It may be called before CanSeal().
  /// @param wire gets what has to precede the FIN, appended
  virtual void SealEnd(OutQueue& wire) = 0;

 protected:
  Channel() = default;
};

}  // namespace TURTLE_SERVER
