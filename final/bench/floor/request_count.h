// Counts a client's requests in its bytes.
//
// Interface:
//  * Feed() counts the blank lines that a piece of input ends. It parses nothing else: requests
//    with a body would be counted wrongly, and the floors are sent none.
//
// Thread: like an int.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace TURTLE_SERVER {

/// Counts request heads in a stream that comes in pieces of any size.
class RequestCount {
 public:
  /// Takes the next piece.
  /// @return how many heads it completes.
  [[nodiscard]] auto Feed(std::string_view piece) -> std::size_t {
    std::size_t count = 0;
    if (matched_ != 0) {
      // The last piece ended within a blank line, which happens only between two packets.
      while (!piece.empty() && piece.front() == kBlankLine[matched_]) {
        piece.remove_prefix(1);
        if (++matched_ == kBlankLine.size()) {
          matched_ = 0;
          ++count;
          break;
        }
      }
      if (piece.empty() && matched_ != 0) {
        return count;
      }
      // A '\r' where '\n' was due may itself start a blank line; the search below sees it.
      matched_ = 0;
    }
    while (const void* found =
               memmem(piece.data(), piece.size(), kBlankLine.data(), kBlankLine.size())) {
      ++count;
      const auto* end = static_cast<const char*>(found) + kBlankLine.size();
      piece.remove_prefix(static_cast<std::size_t>(end - piece.data()));
    }
    matched_ = MatchedAtEnd(piece);
    return count;
  }

 private:
  static constexpr std::string_view kBlankLine = "\r\n\r\n";

  static auto MatchedAtEnd(std::string_view piece) -> std::uint8_t {
    for (std::uint8_t length = kBlankLine.size() - 1; length > 0; --length) {
      if (piece.size() >= length &&
          piece.substr(piece.size() - length) == kBlankLine.substr(0, length)) {
        return length;
      }
    }
    return 0;
  }

  std::uint8_t matched_ = 0;  // bytes of a blank line at the end of the last piece
};

}  // namespace TURTLE_SERVER
