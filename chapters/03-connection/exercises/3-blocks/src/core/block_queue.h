// A queue of bytes in blocks of one size, for large output: no byte ever moves.
//
// Interface:
//  * Append() copies bytes to the back, Pieces() returns those at the front for writev(2),
//    Consume() drops the sent ones.
//
// Thread: one at a time.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <string_view>

namespace TURTLE_SERVER {

/// Queues bytes, block by block.
class BlockQueue {
 public:
  static constexpr std::size_t kBlockSize = 16'384;  ///< bytes per block

  BlockQueue() noexcept = default;
  ~BlockQueue() = default;  // TODO
  BlockQueue(const BlockQueue&) = delete;
  auto operator=(const BlockQueue&) -> BlockQueue& = delete;

  /// Returns how many bytes are queued.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return 0; }  // TODO

  /// Copies `bytes` to the back. Bytes already there don't move.
  ///
  /// @throws std::bad_alloc; then nothing was appended.
  void Append(std::string_view bytes) { static_cast<void>(bytes); }  // TODO

  /// Returns the bytes at the front, in at most `room` pieces, one for each block. They stay valid
  /// until they are consumed.
  ///
  /// @return how many pieces were written.
  auto Pieces(iovec* pieces, std::size_t room) const noexcept -> std::size_t {
    static_cast<void>(pieces);
    static_cast<void>(room);
    return 0;  // TODO
  }

  /// Drops `count` bytes from the front, or all if there are fewer. One empty block is kept for the
  /// next Append(); the memory of the others is freed.
  void Consume(std::size_t count) noexcept { static_cast<void>(count); }  // TODO
};

}  // namespace TURTLE_SERVER
