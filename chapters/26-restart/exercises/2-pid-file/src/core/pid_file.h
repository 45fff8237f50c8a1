// A file with the number of the serving process, for programs that send it signals, and as a guard
// against a second one.
//
// Thread: any, one at a time.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// A file that one process holds, as long as the object lives.
class PidFile {
 public:
  /// Writes the number of this process and a line feed. A file whose process has crashed or was
  /// killed is taken over.
  ///
  /// @throws std::runtime_error if a process holds it: "/run/turtle.pid: process 4711 has it", even
  ///     if that is this process; std::system_error if it can't be opened, or is a symbolic link:
  ///     "/run/turtle.pid: Permission denied"
  explicit PidFile(std::string path);

  PidFile(const PidFile&) = delete;
  auto operator=(const PidFile&) -> PidFile& = delete;

  /// Removes the file, unless it was replaced by another one.
  ~PidFile();

 private:
  std::string path_;
  UniqueFd file_;
};

}  // namespace TURTLE_SERVER
