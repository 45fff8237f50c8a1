// Checks that text is UTF-8, as it arrives.
//
// A fragment may end in the middle of a character. The validator keeps what it has seen of it, and
// refuses a text at the first byte that no valid text can have there. So a client that sends a
// wrong byte learns that before it has sent the rest of a long message.
//
// Interface:
//  * Add() checks a piece.
//  * IsComplete() is true between two characters.
//
// A character takes up to four bytes. The second one has a narrower range after E0, ED, F0 and F4:
// otherwise there would be two spellings of one character, halves of UTF-16's pairs, or numbers
// beyond U+10FFFF.
//
// Thread: a value; nothing is allocated.
// Source: RFC 3629, section 4; RFC 6455, section 8.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Checks one text.
class Utf8Validator {
 public:
  /// Checks the next piece of the text.
  /// @return false: the text is not UTF-8, whatever follows
  [[nodiscard]] auto Add(std::string_view piece) noexcept -> bool {
    std::size_t at = 0;
    while (at < piece.size()) {
      if (missing_ == 0) {
        at = SkipAscii(piece, at);
        if (at == piece.size()) {
          break;
        }
        if (!Begin(static_cast<std::uint8_t>(piece[at]))) {
          return false;
        }
      } else if (!Continue(static_cast<std::uint8_t>(piece[at]))) {
        return false;
      }
      ++at;
    }
    return true;
  }

  /// Returns true if no character is incomplete: the text may end here.
  [[nodiscard]] auto IsComplete() const noexcept -> bool { return missing_ == 0; }

 private:
  // Skips bytes below 0x80, eight at a time: most text has few others.
  static auto SkipAscii(std::string_view piece, std::size_t at) noexcept -> std::size_t {
    constexpr std::uint64_t kHighBits = 0x8080808080808080;
    std::uint64_t word = 0;
    while (at + sizeof(word) <= piece.size()) {
      std::memcpy(&word, piece.data() + at, sizeof(word));
      if ((word & kHighBits) != 0) {
        break;
      }
      at += sizeof(word);
    }
    while (at < piece.size() && static_cast<std::uint8_t>(piece[at]) < 0x80) {
      ++at;
    }
    return at;
  }

  // Takes the first byte of a character with several.
  auto Begin(std::uint8_t byte) noexcept -> bool {
    if (byte < 0xC2 || byte > 0xF4) {
      return false;  // C0 and C1 would spell ASCII in two bytes
    }
    missing_ = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    least_ = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;
    most_ = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;
    return true;
  }

  auto Continue(std::uint8_t byte) noexcept -> bool {
    if (byte < least_ || byte > most_) {
      return false;
    }
    least_ = 0x80;
    most_ = 0xBF;
    --missing_;
    return true;
  }

  std::uint8_t missing_ = 0;  // bytes of the character
  std::uint8_t least_ = 0;    // of the next byte
  std::uint8_t most_ = 0;     // likewise
};

}  // namespace TURTLE_SERVER
