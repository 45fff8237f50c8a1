// A file with the number of the serving process, for programs that want to send it a signal; and
// the guard against a second one.
//
// Thread: any, one at a time.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// A file that one process has, as long as the object lives.
class PidFile {
 public:
  /// Writes the number of this process and a line feed. A file that nobody has any more, since its
  /// process has crashed or was killed, is taken over.
  ///
  /// @throws std::runtime_error where a process has it: "/run/turtle.pid: process 4711 has it",
  /// even if that is this process; std::system_error where it can't be opened, a symbolic link
  /// among such: "/run/turtle.pid: Permission denied"
  explicit PidFile(std::string path);

  PidFile(const PidFile&) = delete;
  auto operator=(const PidFile&) -> PidFile& = delete;

  /// Removes the file, unless somebody has put another in its place.
  ~PidFile();

 private:
  std::string path_;
  UniqueFd file_;
};

}  // namespace TURTLE_SERVER
