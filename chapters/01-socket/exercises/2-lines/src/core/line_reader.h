// Splits a stream into lines.
//
// Interface: Next() until it returns nullopt.
//
// Thread: the socket's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/socket.h"

namespace TURTLE_SERVER {

/// Reads a connection line by line.
class LineReader {
 public:
  /// @param socket source of the bytes; has to outlive this object.
  /// @param limit the most bytes of a line, without its end.
  LineReader(Socket& socket, std::size_t limit) noexcept : socket_(socket), limit_(limit) {}

  /// Waits for the next line.
  ///
  /// @return the line without its end, which is LF or CRLF; at the end of the stream the rest, if
  ///     there is any. Then nullopt; also after an error, and for a line that is too long.
  auto Next() -> std::optional<std::string>;

  /// Returns true if a line has exceeded the limit. Nothing is read from then on.
  [[nodiscard]] auto IsTooLong() const noexcept -> bool { return too_long_; }

 private:
  Socket& socket_;
  std::size_t limit_;
  std::string pending_;  // read, but not part of a returned line
  bool too_long_ = false;
};

}  // namespace TURTLE_SERVER
