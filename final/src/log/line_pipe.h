// Writes lines to a descriptor with a reader, such as stderr, even if the reader has stalled.
//
// A pipe holds 64 KiB. If its reader has stalled, write(2) waits, perhaps forever, and the thread
// with it. Making the descriptor non-blocking is no solution: that flag belongs to the open file
// description, which we share with our parent and our children, fcntl(2). Nor is polling first: a
// terminal counts as writable when it has room for one byte, and other writers may fill a pipe in
// between. So a pipe or a terminal is opened again, by its name in /proc. That gives us our own
// description, which is non-blocking. A socket does not need that, since send(2) has a flag. Only
// if /proc can't be opened, poll(2) decides.
//
// Interface:
//  * TryWrite() writes as much as there is room for.
//  * AwaitRoom() waits until there may be room.
//  * CountLost() counts missing lines. A line with that count precedes the next line that gets
//    through; if lines have their own format, the ErrorSink reports it instead.
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
  /// The most bytes of one call: a pipe takes PIPE_BUF completely or not at all, pipe(7).
  static constexpr std::size_t kMaxPiece = std::max<std::size_t>(PIPE_BUF, LogLine::kMaxBytes);

  /// @param fd owned by the caller; its open file may change
  /// @param error_sink reports missing lines
  explicit LinePipe(int fd, ErrorSink error_sink = nullptr) noexcept
      : fd_(fd), error_sink_(error_sink) {}

  /// Writes whole lines if there is room for them. If a terminal or a socket has taken only a part
  /// of a line, the rest is kept and sent before anything else. A line that can never be written
  /// (the reader is gone, the disk is full) counts as lost.
  /// @param lines at most kMaxPiece bytes; empty once this object is responsible for them
  /// @return false if there is no room now, for them or for the kept part. The caller then calls
  ///     again with the rest of `lines`, or counts them as lost.
  [[nodiscard]] auto TryWrite(std::string_view& lines) noexcept -> bool;

  /// Waits until there seems to be room, or for `patience`.
  void AwaitRoom(std::chrono::milliseconds patience) const noexcept;

  /// Counts `lines` more as not written.
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
  Mutex mutex_;  // held for some system calls that never wait
  std::uint64_t lost_ TURTLE_GUARDED_BY(mutex_) = 0;
  std::array<char, kMaxPiece> rest_ TURTLE_GUARDED_BY(mutex_){};  // of a partly written line
  std::size_t rest_size_ TURTLE_GUARDED_BY(mutex_) = 0;
};

}  // namespace TURTLE_SERVER
