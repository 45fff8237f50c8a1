// Lines into a descriptor that others read, such as stderr, even if they have stopped reading.
//
// A pipe holds 64 KiB. When its reader has stopped, write(2) waits, perhaps forever, and the
// thread with it. Making the descriptor non-blocking is no way out: that flag belongs to the open
// file description, which we share with our parent and our children, fcntl(2). Asking poll(2) first
// is none either: a terminal says "writable" when there is room for a byte, and of a pipe others
// may take the room before we do. So a pipe or a terminal is opened once more, by its name in
// /proc: that gives a description which is ours alone, and non-blocking. A socket needs no such
// thing, send(2) has a flag. Only where /proc can't be opened poll(2) is asked.
//
// Interface:
//  * TryWrite() writes what there is room for.
//  * AwaitRoom() waits for a better moment.
//  * CountLost() counts lines that are missing. The next line that gets through follows one with
//    that count; where lines have their own format, the ErrorSink reports it instead.
//
// Thread: any. Lines of several threads never mix.
#pragma once

#include <limits.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/mutex.h"
#include "log/log_line.h"

namespace TURTLE_SERVER {

/// Writes lines to a descriptor without waiting for its reader.
class LinePipe {
 public:
  /// So much goes in one call, in bytes: a pipe takes PIPE_BUF whole or not at all, pipe(7).
  static constexpr std::size_t kMaxPiece = std::max<std::size_t>(PIPE_BUF, LogLine::kMaxBytes);

  /// @param fd stays the caller's; its open file may change
  /// @param error_sink reports missing lines
  explicit LinePipe(int fd, ErrorSink error_sink = nullptr) noexcept
      : fd_(fd), error_sink_(error_sink) {}

  /// Writes whole lines if there is room for them. The rest of a line that a terminal or a socket
  /// has taken in part is kept, and goes ahead of everything else. A line that can't be written at
  /// all, now or later (the reader has gone, the disk is full), counts as lost.
  /// @param lines kMaxPiece bytes at most; empty once they are this object's concern
  /// @return false: there is no room now, for them or for what was kept. To be called again with
  ///     what is left of `lines`, or it is for the caller to count them as lost.
  [[nodiscard]] auto TryWrite(std::string_view& lines) noexcept -> bool;

  /// Waits until there seems to be room, or for `patience`.
  void AwaitRoom(std::chrono::milliseconds patience) const noexcept;

  /// `lines` more were not written.
  void CountLost(std::uint64_t lines) noexcept;

 private:
  enum class Outcome : std::uint8_t { kTaken, kNoRoom, kRefused };

  auto Poll(std::chrono::milliseconds patience) const noexcept -> short;
  auto WriteNow(std::string_view bytes) const noexcept -> ssize_t;
  void PutAll(std::string_view& lines, Outcome& outcome) noexcept TURTLE_REQUIRES(mutex_);
  void Put(std::string_view lines, Outcome& outcome) noexcept TURTLE_REQUIRES(mutex_);
  void PutRest(Outcome& outcome) noexcept TURTLE_REQUIRES(mutex_);

  const int fd_;
  const ErrorSink error_sink_;
  Mutex mutex_;  // for some system calls that never wait
  std::uint64_t lost_ TURTLE_GUARDED_BY(mutex_) = 0;
  std::array<char, kMaxPiece> rest_ TURTLE_GUARDED_BY(mutex_){};  // of lines that have begun
  std::size_t rest_size_ TURTLE_GUARDED_BY(mutex_) = 0;
};

}  // namespace TURTLE_SERVER
