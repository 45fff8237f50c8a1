// A client's socket, its input and its unsent output.
//
// Interface:
//  * Recv() reads what has arrived, by one recv(2); Read() returns it, Consume() drops used bytes.
//  * Write() queues bytes, Send() sends as much as the kernel takes and keeps the rest.
//  * Above the high-water mark of unsent bytes the connection is Paused(): Recv() takes nothing
//    more until the client has read the queue down to the low-water mark. So a client that sends
//    and never reads costs a bounded amount of memory, and TCP makes it wait.
//
// The socket is non-blocking, so no call here ever waits.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/buffer.h"
#include "core/io_result.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// The result of one Recv().
struct RecvResult {
  std::size_t read;  ///< new bytes, to be seen by Connection::Read()
  bool exit;         ///< nothing more will come: the client has finished, or the line is broken
};

/// The traffic that a connection's line still carries. It only moves forward:
///
///     kOpen ──> kEnded ──> kBroken
///       └─────────────────────┘
enum class LineState : std::uint8_t {
  kOpen,    ///< bytes go both ways
  kEnded,   ///< the client's FIN has been read; output still goes
  kBroken,  ///< a reset or another error: nothing goes in or out any more
};

/// True if a line may move from `from` to `to`. Any thread.
constexpr auto MayMove(LineState from, LineState to) noexcept -> bool {
  switch (from) {
    case LineState::kOpen:
      return to == LineState::kEnded || to == LineState::kBroken;
    case LineState::kEnded:
      return to == LineState::kBroken;
    case LineState::kBroken:
      break;
  }
  return false;
}

/// One client's connection: bytes in, bytes out.
class Connection {
 public:
  /// The unsent bytes above which the connection is paused.
  static constexpr std::size_t kHighWater = std::size_t{256} * 1024;
  /// The unsent bytes at which a paused connection resumes.
  static constexpr std::size_t kLowWater = std::size_t{64} * 1024;
  /// The most bytes that one Recv() takes.
  static constexpr std::size_t kRecvSize = std::size_t{16} * 1024;

  /// Takes over `socket`, which must be connected and non-blocking.
  explicit Connection(Socket socket) noexcept;

  /// Returns the descriptor, borrowed.
  [[nodiscard]] auto GetFd() const noexcept -> int { return socket_.GetFd(); }

  /// Reads what has arrived, by at most one recv(2) of kRecvSize bytes.
  ///
  /// Data comes before the end: bytes that the client sent before its FIN are reported first, by
  /// {n, false}, and the end by a later call. With {0, false} there is nothing to do: nothing has
  /// arrived, or the connection is paused.
  auto Recv() -> RecvResult;

  /// Returns the input that was not consumed; valid until the next Recv() or Consume().
  [[nodiscard]] auto Read() const noexcept -> std::string_view { return input_.View(); }

  /// Returns a copy of Read().
  [[nodiscard]] auto ReadAsString() const -> std::string { return std::string(Read()); }

  /// Drops the first `count` bytes of Read().
  void Consume(std::size_t count) noexcept { input_.Consume(count); }

  /// Drops all of Read().
  void ClearReadBuffer() noexcept { input_.Clear(); }

  /// Queues a copy of `bytes`. They are dropped if the line is broken: nobody could read them.
  void Write(std::string_view bytes) { WriteToWriteBuffer(bytes); }

  /// Does the same as Write().
  void WriteToWriteBuffer(std::string_view bytes);

  /// Sends as much of the queue as the kernel takes and keeps the rest. Call it again when the
  /// socket is writable; a call with nothing to send does nothing.
  void Send();

  /// Returns the number of queued bytes that the kernel has not taken yet.
  [[nodiscard]] auto UnsentBytes() const noexcept -> std::size_t { return output_.Size(); }

  /// True while too much is unsent to read more.
  [[nodiscard]] auto Paused() const noexcept -> bool { return paused_; }

 private:
  // Reads once. A client's bytes pass the kernel only here and in Flush().
  auto Fill() -> IoResult;
  // Sends once, and drops the sent bytes from the queue.
  auto Flush() -> IoResult;

  void UpdatePaused() noexcept;
  void Break() noexcept;
  void Move(LineState to) noexcept;

  Socket socket_;
  LineState line_ = LineState::kOpen;
  bool paused_ = false;
  Buffer input_;
  Buffer output_;
};

}  // namespace TURTLE_SERVER
