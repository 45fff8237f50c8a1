// Reads a connection in pieces of a fixed size, as another client would: 8 KB at a time, for
// example, like wrk.
//
// Interface:
//  * Read() makes one recv(2); Piece() returns its data.
//
// Thread: one at a time.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/io_result.h"

namespace TURTLE_SERVER {

/// Room for one piece.
class PieceReader {
 public:
  /// @param size of a piece in bytes; with 0 nothing is read
  explicit PieceReader(std::size_t size) : room_(size) {}

  /// Returns the size of a piece.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return room_.size(); }

  /// Takes the next piece, or less, of a non-blocking socket.
  auto Read(int fd) noexcept -> IoResult {
    ssize_t count = 0;
    do {
      count = ::recv(fd, room_.data(), room_.size(), 0);
    } while (count < 0 && errno == EINTR);
    if (count > 0) {
      return {IoStatus::kBytes, static_cast<std::size_t>(count), 0};
    }
    if (count == 0) {
      return {IoStatus::kEnd, 0, 0};
    }
    return errno == EAGAIN ? IoResult{IoStatus::kWouldBlock, 0, 0}
                           : IoResult{IoStatus::kError, 0, errno};
  }

  /// Returns the first `bytes` bytes of the last Read(); valid until the next one.
  [[nodiscard]] auto Piece(std::size_t bytes) const noexcept -> std::string_view {
    return {room_.data(), bytes};
  }

 private:
  std::vector<char> room_;
};

}  // namespace TURTLE_SERVER
