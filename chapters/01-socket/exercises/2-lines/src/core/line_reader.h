// Lines out of a stream, which knows of none.
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
  /// @param socket where the bytes come from; has to outlive this object.
  /// @param limit how many bytes a line may have, its end not counted.
  LineReader(Socket& socket, std::size_t limit) noexcept : socket_(socket), limit_(limit) {}

  /// Waits for the next line.
  ///
  /// @return the line without its end, which is LF or CRLF; at the end of the stream the rest, if
  ///     there is any. Then nullopt, as after an error and for a line that is too long.
  auto Next() -> std::optional<std::string>;

  /// Did a line have more than the limit? Nothing is read from then on.
  [[nodiscard]] auto IsTooLong() const noexcept -> bool { return too_long_; }

 private:
  Socket& socket_;
  std::size_t limit_;
  std::string pending_;  // read, but not part of a line that was returned
  bool too_long_ = false;
};

}  // namespace TURTLE_SERVER
