// A nameless temporary file, for a body that has to be complete before anybody can use it.
//
// It is opened under a name that nobody could guess and loses that name at once, so no other
// process can open it, and nothing is left behind however the server ends.
//
// Interface:
//  * Open(), Write() as often as needed, Rewind(), and the descriptor can be read by a program.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// A temporary file without a name.
class SpoolFile {
 public:
  /// Makes the file in $TMPDIR, or /tmp. @return 0 or an errno value.
  [[nodiscard]] auto Open() -> int;

  /// Adds `bytes` at the end. @return 0 or an errno value (ENOSPC).
  [[nodiscard]] auto Write(std::string_view bytes) noexcept -> int;

  /// Sets the read position to the start. @return 0 or an errno value.
  [[nodiscard]] auto Rewind() noexcept -> int;

  /// The descriptor, borrowed; -1 before Open().
  [[nodiscard]] auto GetFd() const noexcept -> int { return fd_.Get(); }

  /// How many bytes were written.
  [[nodiscard]] auto Size() const noexcept -> std::uint64_t { return size_; }

 private:
  UniqueFd fd_;
  std::uint64_t size_ = 0;
};

}  // namespace TURTLE_SERVER
