// Makes messages of frames.
//
// The input comes in any pieces. The reader takes what there is, unmasks it, decompresses it and
// checks it at once, and keeps only the message so far. It is the one place that knows which frame
// may follow which.
//
// Interface:
//  * Next() reads up to the next event: a message, a control frame, or a reason to close.
//  * Bytes(), Kind() and Code() are about that event.
//  * IsIdle() is true between two messages, when nothing is kept.
//
// Both sides read by the same rules: a server wants masked frames, and a client unmasked ones.
//
// Thread: one at a time. In a steady state, nothing is allocated: the memory of a message is used
// again.
// Source: RFC 6455, sections 5.4 to 5.6, 7.4 and 8.1; RFC 7692, section 6.2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compress/raw_deflate.h"
#include "websocket/close_code.h"
#include "websocket/frame.h"
#include "websocket/utf8.h"

namespace TURTLE_SERVER {

/// The kind of a message.
enum class MessageKind : std::uint8_t {
  kText,    ///< UTF-8
  kBinary,  ///< any bytes
};

/// The limits of a reader, and the terms of its connection.
struct ReaderRules {
  std::size_t max_message_bytes = std::size_t{1} << 20;  ///< decompressed; beyond it, 1009
  std::size_t max_fragments = 4096;                      ///< of one message; beyond it, 1008
  bool masked = true;          ///< true for a server: every frame must be masked; else none may be
  bool inflates = false;       ///< permessage-deflate was agreed on
  bool keeps_context = false;  ///< a message may refer to earlier ones
  int window_bits = kMostWindowBits;  ///< of the sender
};

/// The result of MessageReader::Next().
enum class ReadEvent : std::uint8_t {
  kNeedInput,  ///< all of the input was taken
  kMessage,    ///< Bytes() is a whole message of Kind()
  kPing,       ///< Bytes() has to be sent back
  kPong,       ///< Bytes() comes back
  kClose,      ///< the peer ends with Code(), kNoCode if there was none; Bytes() is its reason
  kFailed,     ///< the peer breaks the rule that Code() stands for; nothing more can be read
};

/// Reads one peer's frames.
class MessageReader {
 public:
  /// The memory that is kept for the next message, in bytes.
  static constexpr std::size_t kKeptBytes = std::size_t{256} * 1024;

  /// Forgets everything, and reads by these rules from now on.
  void Begin(const ReaderRules& rules) noexcept;

  /// Reads up to the next event. Throws std::bad_alloc.
  /// @param input loses the bytes that were taken
  [[nodiscard]] auto Next(std::string_view& input) -> ReadEvent;

  /// Returns the bytes of the last event; valid until the next call of Next() or Begin().
  [[nodiscard]] auto Bytes() const noexcept -> std::string_view { return bytes_; }

  /// Returns the kind of the last message.
  [[nodiscard]] auto Kind() const noexcept -> MessageKind { return kind_; }

  /// Returns the code of the last kClose or kFailed.
  [[nodiscard]] auto Code() const noexcept -> CloseCode { return code_; }

  /// Returns true if a new reader could go on in this one's place.
  [[nodiscard]] auto IsIdle() const noexcept -> bool {
    return !in_frame_ && !in_message_ && head_bytes_ == 0 && !rules_.keeps_context;
  }

  /// Returns how much memory is kept for messages, in bytes.
  [[nodiscard]] auto Capacity() const noexcept -> std::size_t { return message_.capacity(); }

 private:
  void DropMessage() noexcept;
  auto ReadHead(std::string_view& input) -> ReadEvent;
  auto CheckHead() -> bool;
  auto BeginMessage() -> bool;
  auto ReadPayload(std::string_view& input) -> bool;
  auto AddPlain(std::string_view piece) -> bool;
  auto AddCompressed(std::string_view piece) -> bool;
  auto CheckInflated(InflateState state, std::size_t before) -> bool;
  auto CheckText(std::size_t before) -> bool;
  auto EndFrame() -> ReadEvent;
  auto EndControl() -> ReadEvent;
  auto EndMessage() -> ReadEvent;
  auto ReadClose() -> bool;
  auto Fail(CloseCode code) noexcept -> bool;

  ReaderRules rules_;
  std::unique_ptr<RawInflater> inflater_;  // made when the first compressed message comes
  int inflater_bits_ = 0;
  std::string message_;            // so far
  FrameHead head_;                 // of the current frame
  std::uint64_t taken_ = 0;        // bytes of its payload
  std::uint64_t frame_bytes_ = 0;  // of the message's frames: compressed, if it is
  std::size_t fragments_ = 0;
  std::array<char, kMaxFrameHead> head_start_{};  // of a head that isn't complete
  std::size_t head_bytes_ = 0;
  std::array<char, kMaxControlPayload> control_{};  // comes between the fragments of a message
  std::string_view bytes_;
  Utf8Validator utf8_;
  MessageKind kind_ = MessageKind::kText;
  CloseCode code_ = CloseCode::kNoCode;
  bool in_frame_ = false;
  bool in_message_ = false;  // its last frame has not ended
  bool compressed_ = false;  // the message is
  bool delivered_ = false;   // message_ is the caller's until the next call
  bool failed_ = false;
};

}  // namespace TURTLE_SERVER
