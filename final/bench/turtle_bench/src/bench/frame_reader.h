// Reads what a WebSocket server sends: the response to the handshake, then messages.
//
// The payload is not kept; its digest is. A message counts as complete with its last frame. Frames
// of a server aren't masked.
//
// Interface:
//  * Read() takes bytes up to the end of the handshake or of one message; Next() prepares for the
//    next.
//  * IsHandshake() tells which of the two it is.
//  * Size() and Value() describe a complete message.
//
// Thread: the loop's.
// Source: RFC 6455, section 5.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "bench/body_digest.h"
#include "bench/response_reader.h"
#include "websocket/frame.h"

namespace TURTLE_SERVER {

/// Reads the messages of one connection, one after the other.
class FrameReader {
 public:
  /// The longest response to the handshake.
  static constexpr std::size_t kMaxHead = std::size_t{16} * 1024;

  /// Begins again, with a handshake.
  void Open() noexcept { *this = FrameReader(); }

  /// Reads further, at most up to the end of the handshake or of a message.
  /// @param input the bytes after those that were used so far
  auto Read(std::string_view input) -> ReadResult {
    return is_handshake_ ? ReadHandshake(input) : ReadFrames(input);
  }

  /// Returns true until Next() is called after the handshake.
  [[nodiscard]] auto IsHandshake() const noexcept -> bool { return is_handshake_; }

  /// Bytes of the message so far.
  [[nodiscard]] auto Size() const noexcept -> std::uint64_t { return digest_.Size(); }

  /// Returns the digest of the message so far.
  [[nodiscard]] auto Value() const noexcept -> std::uint64_t { return digest_.Value(); }

  /// Resets it for the next message.
  void Next() noexcept {
    is_handshake_ = false;
    response_.clear();
    digest_ = BodyDigest();
  }

 private:
  auto ReadHandshake(std::string_view input) -> ReadResult {
    constexpr std::string_view kEnd = "\r\n\r\n";
    const std::size_t before = response_.size();
    response_.append(input);
    const std::size_t end = response_.find(kEnd);
    if (end == std::string::npos) {
      return response_.size() > kMaxHead ? ReadResult{ReplyState::kBad, 0, "a long head"}
                                         : ReadResult{ReplyState::kMore, input.size(), ""};
    }
    return response_.compare(0, 13, "HTTP/1.1 101 ") == 0
               ? ReadResult{ReplyState::kDone, end + kEnd.size() - before, ""}
               : ReadResult{ReplyState::kBad, 0, "no 101"};
  }

  auto ReadFrames(std::string_view input) -> ReadResult {
    std::size_t used = 0;
    while (used < input.size() || (in_frame_ && left_ == 0)) {
      if (!in_frame_) {
        const ReadResult head = ReadHead(input.substr(used));
        used += head.used;
        if (!in_frame_) {
          return {head.state, used, head.fault};
        }
      }
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size() - used));
      digest_.Add(input.substr(used, IsControl(head_.opcode) ? 0 : count));
      used += count;
      left_ -= count;
      if (left_ == 0) {
        in_frame_ = false;
        if (head_.last && !IsControl(head_.opcode)) {
          return {ReplyState::kDone, used, ""};
        }
      }
    }
    return {ReplyState::kMore, used, ""};
  }

  auto ReadHead(std::string_view input) -> ReadResult {
    const std::size_t count = std::min(input.size(), start_.size() - start_bytes_);
    std::memcpy(start_.data() + start_bytes_, input.data(), count);
    const FrameResult result = ParseFrameHead({start_.data(), start_bytes_ + count}, head_);
    if (result.state == FrameState::kIncomplete) {
      start_bytes_ += count;
      return {ReplyState::kMore, count, ""};
    }
    if (result.state == FrameState::kMalformed || head_.masked || head_.opcode == Opcode::kClose) {
      return {ReplyState::kBad, 0, "no message"};
    }
    const std::size_t used = result.bytes - start_bytes_;
    start_bytes_ = 0;
    in_frame_ = true;
    left_ = head_.length;
    return {ReplyState::kMore, used, ""};
  }

  bool is_handshake_ = true;
  bool in_frame_ = false;
  std::string response_;  // to the handshake, so far
  FrameHead head_;
  std::array<char, kMaxFrameHead> start_{};  // of a head that isn't complete
  std::size_t start_bytes_ = 0;
  std::uint64_t left_ = 0;  // bytes of the frame's payload
  BodyDigest digest_;
};

}  // namespace TURTLE_SERVER
