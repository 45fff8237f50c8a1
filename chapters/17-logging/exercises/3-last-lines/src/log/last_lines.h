// The last lines, kept in memory: what nobody wants to write, until the program dies.
//
// Lines of level DEBUG are off on a server that is in use: there are too many of them. The last
// ones before a crash are what somebody will wish to have. They are kept here, where they cost a
// copy, and a signal handler writes them out.
//
// Thread: any, any number at once; and signal handlers, whatever they have interrupted.
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

  /// Keeps a line instead of the oldest. Takes no lock, never waits, and allocates nothing. While
  /// somebody else is still busy with the place that it would get, the line is left out.
  void Add(const LogLine& line) noexcept;

  /// Writes the lines that are kept, the oldest first, as far as write(2) takes them. A line that
  /// another thread changes meanwhile is left out, never shown in part. `errno` is what it was.
  void Write(int fd) const noexcept;
};

}  // namespace TURTLE_SERVER
