// A message as a handler sees it, and as it is sent.
//
// Interface:
//  * Message is a view of a message that was received.
//  * SharedMessage is one that is sent to many clients: serialised and compressed once.
//  * OpcodeOf() and WriteClosePayload() are the parts of frames that a client writes, too.
//
// Thread: a SharedMessage never changes, so any thread may read it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/pin.h"
#include "websocket/close_code.h"
#include "websocket/frame.h"
#include "websocket/message_reader.h"

namespace TURTLE_SERVER {

/// A message that was received.
struct Message {
  MessageKind kind;        ///< text or binary
  std::string_view bytes;  ///< valid until the handler returns
};

/// Returns the opcode of a message's first frame.
[[nodiscard]] constexpr auto OpcodeOf(MessageKind kind) noexcept -> Opcode {
  return kind == MessageKind::kText ? Opcode::kText : Opcode::kBinary;
}

/// Writes the payload of a Close.
/// @param code kNoCode: the payload is empty
/// @param reason UTF-8; one that is too long is cut before a character, not within it
/// @param into room for kMaxControlPayload bytes
/// @return how many bytes it takes
auto WriteClosePayload(CloseCode code, std::string_view reason, char* into) noexcept -> std::size_t;

/// The frame of a message for any number of clients.
class SharedMessage {
 public:
  /// Serialises `bytes`.
  /// @param kind text or binary; a text must be UTF-8
  /// @param bytes of the message
  /// @param compressed also make a compressed frame, if that is shorter
  SharedMessage(MessageKind kind, std::string_view bytes, bool compressed);

  /// Returns the frame for a client without compression.
  [[nodiscard]] auto Plain() const noexcept -> std::string_view { return plain_; }

  /// Returns the compressed frame, which needs a window of 15 bits and no earlier message; "":
  /// there is none.
  [[nodiscard]] auto Compressed() const noexcept -> std::string_view { return compressed_; }

  /// Returns how many bytes both frames have.
  [[nodiscard]] auto Bytes() const noexcept -> std::size_t {
    return plain_.size() + compressed_.size();
  }

 private:
  std::string plain_;
  std::string compressed_;
};

/// Keeps a SharedMessage for the output of one loop's connections.
class PinnedMessage : public Pinned {
 public:
  /// @param message shared by the loops that send it
  explicit PinnedMessage(std::shared_ptr<const SharedMessage> message) noexcept
      : message_(std::move(message)) {}

  /// Returns the message.
  [[nodiscard]] auto Get() const noexcept -> const SharedMessage& { return *message_; }

 private:
  const std::shared_ptr<const SharedMessage> message_;
};

}  // namespace TURTLE_SERVER
