// A temporary file without a name, for a body that must be complete before it can be used.
//
// It is created under a name that is hard to guess, and that name is removed at once. So no other
// process can open it, and nothing is left behind however the server ends.
//
// Small pieces are gathered: a client may send its body in chunks of one byte, which should not
// cost a system call each.
//
// Interface:
//  * Open(), Write() any number of times, then Rewind(): a program can read the descriptor.
//  * Adopt() in place of Open() takes a file made elsewhere (web/nameless_file.h).
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// A temporary file without a name.
class SpoolFile {
 public:
  /// Makes the file in $TMPDIR, or /tmp. Throws std::bad_alloc. @return 0 or an errno value.
  [[nodiscard]] auto Open() -> int;

  /// Takes over an empty file that is open for reading and writing. Throws std::bad_alloc.
  void Adopt(UniqueFd file);

  /// Adds `bytes` at the end. @return 0 or an errno value (ENOSPC).
  [[nodiscard]] auto Write(std::string_view bytes) noexcept -> int;

  /// Writes what was gathered and moves the read position to the start. @return 0 or errno value.
  [[nodiscard]] auto Rewind() noexcept -> int;

  /// Returns the descriptor, borrowed; -1 before Open().
  [[nodiscard]] auto GetFd() const noexcept -> int { return fd_.Get(); }

  /// Returns how many bytes were added.
  [[nodiscard]] auto Size() const noexcept -> std::uint64_t { return size_; }

 private:
  auto Flush() noexcept -> int;
  auto WriteOut(std::string_view bytes) noexcept -> int;

  UniqueFd fd_;
  std::string gathered_;  // small pieces that are not in the file yet
  std::uint64_t size_ = 0;
};

}  // namespace TURTLE_SERVER
