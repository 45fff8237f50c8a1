// The responses of a floor: complete, and made before the first client comes.
//
// Interface:
//  * Replies reads small.html and big.html from a directory; ForRequest() chooses by the target's
//    first letter, which is all that a floor looks at.
//  * CannedReply::Rest() returns the next bytes to send for a number of bytes still owed.
//
// Thread: any; constant once made.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// One reply, head and body, stored several times in a row: pipelined requests get one write.
struct CannedReply {
  std::string copies;    ///< The response, once or more.
  std::size_t size = 0;  ///< Bytes of one response.

  /// Returns the bytes for the next write, of the `owed` bytes (1 or more) up to the end of a
  /// response.
  [[nodiscard]] auto Rest(std::size_t owed) const -> std::string_view {
    const std::size_t offset = size - 1 - (owed - 1) % size;
    return std::string_view(copies).substr(offset, owed);
  }
};

/// All responses that are ever sent.
class Replies {
 public:
  /// Reads the two pages of `root`; throws std::system_error that names the one that failed.
  explicit Replies(const std::string& root);

  /// Returns the response that keeps the connection, for a request that starts with `head`.
  [[nodiscard]] auto ForRequest(std::string_view head) const -> const CannedReply& {
    return WantsBig(head) ? big_ : small_;
  }

  /// Returns the response that announces the end of the connection.
  [[nodiscard]] auto LastForRequest(std::string_view head) const -> const CannedReply& {
    return WantsBig(head) ? big_last_ : small_last_;
  }

  /// Returns a file in memory that contains `big`, the response of ForRequest() with the big page,
  /// for sendfile().
  [[nodiscard]] auto BigFile() const -> int { return big_file_.Get(); }

  /// Returns true if `reply` is the one in BigFile().
  [[nodiscard]] auto IsInFile(const CannedReply& reply) const -> bool { return &reply == &big_; }

 private:
  static auto WantsBig(std::string_view head) -> bool {
    constexpr std::size_t kFirstLetter = std::string_view("GET /").size();
    return head.size() > kFirstLetter && head[kFirstLetter] == 'b';
  }

  CannedReply small_;
  CannedReply small_last_;
  CannedReply big_;
  CannedReply big_last_;
  UniqueFd big_file_;
};

}  // namespace TURTLE_SERVER
