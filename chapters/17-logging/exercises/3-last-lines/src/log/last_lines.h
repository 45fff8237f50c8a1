// Keeps the last lines in memory, in case the program crashes.
//
// Lines of level DEBUG are off on a production server, because there are too many of them. But the
// last ones before a crash would be useful. They are kept here, which costs only a copy, and a
// signal handler writes them out.
//
// Thread: any, several at once; also signal handlers, whatever they have interrupted.
#pragma once

#include <cstddef>

#include "log/log_line.h"

namespace TURTLE_SERVER {

/// A ring of lines.
class LastLines {
 public:
  /// @param count how many lines are kept, at least 1
  /// @throws std::invalid_argument "0 lines: at least 1"
  explicit LastLines(std::size_t count);

  LastLines(const LastLines&) = delete;
  auto operator=(const LastLines&) -> LastLines& = delete;
  ~LastLines() = default;

  /// Keeps a line in place of the oldest. Takes no lock, never waits, and allocates nothing. If
  /// another thread is still using the slot that it would get, the line is dropped.
  void Add(const LogLine& line) noexcept;

  /// Writes the kept lines, the oldest first, as far as write(2) takes them. A line that another
  /// thread changes meanwhile is left out, never shown in part. `errno` is preserved.
  void Write(int fd) const noexcept;
};

}  // namespace TURTLE_SERVER
