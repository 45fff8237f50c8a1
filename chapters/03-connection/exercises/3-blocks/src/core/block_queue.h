// A queue of bytes in blocks of one size, for output that is large: no byte ever moves.
//
// Interface:
//  * Append() copies bytes to the back, Pieces() shows those at the front for writev(2), Consume()
//    drops what was sent.
//
// Thread: one at a time.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <string_view>

namespace TURTLE_SERVER {

/// Bytes in, bytes out, block by block.
class BlockQueue {
 public:
  static constexpr std::size_t kBlockSize = 16'384;  ///< bytes that a block holds

  BlockQueue() noexcept = default;
  ~BlockQueue() = default;  // TODO
  BlockQueue(const BlockQueue&) = delete;
  auto operator=(const BlockQueue&) -> BlockQueue& = delete;

  /// How many bytes are there.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return 0; }  // TODO

  /// Copies `bytes` to the back. Bytes that are there already stay where they are.
  ///
  /// @throws std::bad_alloc; then nothing was appended.
  void Append(std::string_view bytes) { static_cast<void>(bytes); }  // TODO

  /// The bytes at the front, at most `room` pieces, one for each block. They stay valid until they
  /// are consumed.
  ///
  /// @return how many pieces were written.
  auto Pieces(iovec* pieces, std::size_t room) const noexcept -> std::size_t {
    static_cast<void>(pieces);
    static_cast<void>(room);
    return 0;  // TODO
  }

  /// Drops `count` bytes from the front; all when there are fewer. One block that has become free
  /// is kept for the next Append(); the memory of the others goes back.
  void Consume(std::size_t count) noexcept { static_cast<void>(count); }  // TODO
};

}  // namespace TURTLE_SERVER
