// Channels that anybody can read: letters are rotated by 13 places.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/buffer.h"
#include "core/channel.h"
#include "core/out_queue.h"

namespace TURTLE_SERVER::test {

/// Rotates the letters by 13 places; a second time restores them.
inline auto Rot13(std::string_view text) -> std::string {
  std::string rotated(text);
  for (char& each : rotated) {
    if ((each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z')) {
      each = static_cast<char>(each + ((each | 0x20) < 'n' ? 13 : -13));
    }
  }
  return rotated;
}

/// A Channel that only rotates: it passes all bytes, and has no end marker.
class Rot13Channel : public Channel {
 public:
  auto Open(std::string_view wire, Buffer& plain, OutQueue& /*reply*/) -> ChannelStatus override {
    plain.Append(Rot13(wire));
    return ChannelStatus::kOpen;
  }
  [[nodiscard]] auto CanSeal() const noexcept -> bool override { return true; }
  void Seal(std::string_view plain, OutQueue& wire) override { wire.Append(Rot13(plain)); }
  void SealEnd(OutQueue& /*wire*/) override {}
};

/// A Channel with all that TLS has: a handshake, records, an end and an alert.
///
/// The client's stream consists of lines, which are opened when they are complete. The first must
/// be kHello; the response to it is kWelcome, and it brings no input. A line kEnd ends the client's
/// direction. A line kGarbage breaks the channel, and its response is kAlert; at kThrow Open()
/// throws. Output has no lines, and ends with kEnd. With "throw" in its output, Seal() throws.
class LineChannel : public Rot13Channel {
 public:
  static constexpr std::string_view kHello = "hello\n";
  static constexpr std::string_view kWelcome = "welcome\n";
  static constexpr std::string_view kEnd = "end\n";
  static constexpr std::string_view kGarbage = "garbage\n";
  static constexpr std::string_view kAlert = "alert\n";
  static constexpr std::string_view kThrow = "throw\n";

  auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus override {
    partial_ += wire;
    for (std::size_t end = 0; (end = partial_.find('\n')) != std::string::npos;) {
      const std::string line = partial_.substr(0, end + 1);
      partial_.erase(0, end + 1);
      if (line == kThrow) {
        throw std::runtime_error("Open");
      }
      if (line == kEnd) {
        return ChannelStatus::kEnded;
      }
      if (line == kGarbage || (!greeted_ && line != kHello)) {
        reply.Append(kAlert);
        return ChannelStatus::kBroken;
      }
      if (greeted_) {
        plain.Append(Rot13(line));
      } else {
        greeted_ = true;
        reply.Append(kWelcome);
      }
    }
    return ChannelStatus::kOpen;
  }
  [[nodiscard]] auto CanSeal() const noexcept -> bool override { return greeted_; }
  void Seal(std::string_view plain, OutQueue& wire) override {
    if (plain.find("throw") != std::string_view::npos) {
      throw std::runtime_error("Seal");
    }
    Rot13Channel::Seal(plain, wire);
  }
  void SealEnd(OutQueue& wire) override { wire.Append(kEnd); }

 private:
  std::string partial_;
  bool greeted_ = false;
};

}  // namespace TURTLE_SERVER::test
