// The unsent output of one connection, in order.
//
// Interface:
//  * Append() copies bytes: heads and small bodies, packed into blocks of the thread's BlockPool.
//  * AppendPinned() refers to memory that a Pin keeps alive: a cached body is sent without a
//    copy.
//  * AppendFile() refers to a part of a file, which goes from the page cache to the socket by
//    sendfile(2) without passing through the program.
//  * FlushTo() sends as much as the kernel takes: one piece by send(2), several by one sendmsg(2).
//    So the responses to pipelined requests, or a head and its body, leave together.
//
// An empty OutQueue is a null pointer and owns nothing. The first piece borrows one block, which
// holds the queue's own state, the list of pieces and the copied bytes: a small response costs no
// allocation. A Pin is released as soon as the kernel has taken the last byte that it keeps alive:
// the kernel copies memory, and holds on to file pages by itself.
//
// Thread: one at a time; an OutQueue belongs to its connection's loop, as do its Pins.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <string_view>

#include "base/file_slice.h"
#include "base/pin.h"
#include "core/io_result.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// A queue of output: copied bytes, pinned memory and parts of files.
class OutQueue {
 public:
  /// The most pieces that one sendmsg(2) takes.
  static constexpr std::size_t kMaxPiecesPerSend = 64;
  /// The most bytes of a file that one sendfile(2) is asked for: until it returns, the loop serves
  /// no other connection.
  static constexpr std::size_t kMaxFileStep = std::size_t{1024} * 1024;
  /// The most bytes that one FlushTo() sends, for the same reason.
  static constexpr std::size_t kMaxFlushBytes = 2 * kMaxFileStep;

  /// A file at least this long does not travel with the bytes before it (MSG_MORE). They leave at
  /// once, so that the client wakes up and does its part of TCP while the file is on its way.
  static constexpr std::size_t kLongFile = std::size_t{64} * 1024;

  /// The result of Gather().
  struct Gathered {
    std::size_t pieces;  ///< how many of the caller's iovecs are filled in
    std::size_t bytes;   ///< the bytes in all of them
    bool more_follows;   ///< whether the last segment should wait for what comes next (MSG_MORE)
  };

  OutQueue() noexcept = default;
  OutQueue(const OutQueue&) = delete;
  auto operator=(const OutQueue&) -> OutQueue& = delete;
  ~OutQueue() { Clear(); }

  /// Queues a copy of `bytes`. Throws std::bad_alloc.
  void Append(std::string_view bytes);

  /// Queues `bytes` without a copy: they must neither move nor change while `pin` lives. Throws
  /// std::bad_alloc.
  void AppendPinned(std::string_view bytes, Pin pin);

  /// Queues a part of a file. Throws std::bad_alloc.
  void AppendFile(FileSlice slice);

  /// Returns the number of queued bytes that the kernel has not taken yet.
  [[nodiscard]] auto Size() const noexcept -> std::size_t;

  /// Returns the number of queued parts of files, however short, that are not wholly taken.
  [[nodiscard]] auto Files() const noexcept -> std::size_t;

  /// True if nothing is queued, and no memory is held.
  [[nodiscard]] auto Empty() const noexcept -> bool { return body_ == nullptr; }

  /// Sends as much as the kernel takes, at most kMaxFlushBytes, and drops it from the queue.
  ///
  /// In the result, `bytes` counts the bytes that this call sent, whatever the status:
  /// - kBytes: the queue is empty, or kMaxFlushBytes are reached and the kernel might take more:
  ///   then call again soon; a socket that was never full does not report room.
  /// - kWouldBlock: the kernel takes nothing more; wait until the socket is writable.
  /// - kError: the connection is of no more use. EIO: a file is shorter than its slice, so promised
  ///   bytes will never come.
  ///
  /// With `last`, the final segment is held back for the FIN (MSG_MORE), which then needs no
  /// packet: shut down or close once the queue is empty. That concerns memory at the end of the
  /// queue; the end of a file goes out at once. If the kernel does not take everything there is
  /// nothing to undo: call again, and what is held back leaves with what follows it.
  /// @param socket a connected, non-blocking stream socket, the same one until the queue is empty
  /// @param last the caller will close, or end its direction, once everything is sent
  /// @return see above
  auto FlushTo(Socket& socket, bool last) -> IoResult;

  /// Returns the memory at the front, as pieces for the next send. They stay in place until
  /// Consume() or Clear(). FlushTo() sends them by itself.
  /// @param parts room for kMaxPiecesPerSend pieces
  /// @param room the most bytes that it may return
  /// @param last as for FlushTo()
  /// @return no pieces if the queue is empty or a file comes first
  [[nodiscard]] auto Gather(iovec* parts, std::size_t room, bool last) const noexcept -> Gathered;

  /// Drops the first `count` bytes, which have been sent.
  void Consume(std::size_t count) noexcept;

  /// Drops everything, lets go of all Pins and gives the memory back.
  void Clear() noexcept;

 private:
  struct Block;
  struct Piece;
  struct Body;

  void AddPiece(Piece piece);
  auto SendMemory(Socket& socket, std::size_t room, bool last) -> IoResult;
  auto SendFromFile(Socket& socket, std::size_t room) -> IoResult;
  void PopPiece() noexcept;

  Body* body_ = nullptr;  // in the first block; null when empty
};

static_assert(sizeof(OutQueue) == sizeof(void*), "an idle connection pays a pointer for it");

}  // namespace TURTLE_SERVER
