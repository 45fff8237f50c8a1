// A message as a handler sees it, and as it is sent.
//
// Interface:
//  * Message is a view of a message that was received.
//  * SharedMessage is one that is sent to many clients: serialised and compressed once.
//
// Thread: a SharedMessage never changes, so any thread may read it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/pin.h"
#include "websocket/message_reader.h"

namespace TURTLE_SERVER {

/// A message that was received.
struct Message {
  MessageKind kind;        ///< text or binary
  std::string_view bytes;  ///< valid until the handler returns
};

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
