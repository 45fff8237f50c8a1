// A file with the number of a running process, for scripts that send it signals.
//
// Interface:
//  * Write() writes it at the start, TakeOver() at a hand-over.
//  * The destructor removes it, if the number in it is still this process's.
//
// A file whose process has ended is stale, and replaced. One whose process runs is left alone, and
// so is a file that has anything but a number.
//
// Thread: the owner's.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The file of one process.
class PidFile {
 public:
  /// Writes nothing yet.
  /// @param path where it will be; empty: no file
  /// @param number of this process
  explicit PidFile(std::string path, pid_t number = ::getpid())
      : path_(std::move(path)), number_(number) {}

  /// Removes the file if its number is this process's. Where it can't be removed, it is emptied.
  ~PidFile();

  PidFile(const PidFile&) = delete;
  auto operator=(const PidFile&) -> PidFile& = delete;

  /// Creates the file, with the number and a newline. A stale one is replaced.
  /// @throws std::runtime_error if the process of an existing file runs
  /// @throws std::invalid_argument if an existing file has anything but a number, or the path has
  ///     a NUL byte
  /// @throws std::system_error if the file can't be written; each text begins with the key and the
  ///     path
  void Write();

  /// Replaces a predecessor's number in the file, or else does as Write(). An error is logged: this
  /// process serves already.
  /// @param predecessor its number
  void TakeOver(pid_t predecessor) noexcept;

 private:
  void Replace(pid_t predecessor);
  [[nodiscard]] auto Create() const noexcept -> bool;
  void RemoveStale(pid_t predecessor) const;
  [[nodiscard]] auto Store(int fd) const noexcept -> bool;
  [[nodiscard]] auto MayReplace(pid_t number, pid_t predecessor) const noexcept -> bool;

  const std::string path_;
  const pid_t number_;
};

}  // namespace TURTLE_SERVER
