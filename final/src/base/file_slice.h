// A part of an open file, as a piece of output.
//
// A slice does not own its descriptor: a Pin keeps the owner alive. So many slices (the ranges of
// one response, the responses to many clients) share one open file. Nothing is read here.
//
// Thread: as base/pin.h.
#pragma once

#include <cstdint>
#include <utility>

#include "base/pin.h"
#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// An open file that is closed when the last Pin to it is gone.
class PinnedFile : public Pinned {
 public:
  /// Takes over `fd`.
  explicit PinnedFile(UniqueFd fd) noexcept : fd_(std::move(fd)) {}

  /// Returns the descriptor, borrowed.
  [[nodiscard]] auto GetFd() const noexcept -> int { return fd_.Get(); }

 private:
  UniqueFd fd_;
};

/// `length` bytes of a file, from `offset` on.
struct FileSlice {
  int fd = -1;               ///< borrowed; `pin` keeps it open. Its file position is not used.
  std::uint64_t offset = 0;  ///< in bytes, from the start of the file
  std::uint64_t length = 0;  ///< in bytes; promised: the file must still have them when sent
  Pin pin{};                 ///< keeps the owner of `fd` alive
};

/// Makes a slice that, together with its copies, owns its file.
/// @param fd an open regular file
/// @param offset in bytes, from the start of the file
/// @param length in bytes
/// @return the slice
[[nodiscard]] inline auto OwnFileSlice(UniqueFd fd, std::uint64_t offset, std::uint64_t length)
    -> FileSlice {
  const auto file = MakePinned<PinnedFile>(std::move(fd));
  return {file->GetFd(), offset, length, file};
}

}  // namespace TURTLE_SERVER
