// Owns one file descriptor and closes it exactly once.
//
// Interface:
//  * Get() lends the number; Release() gives up the ownership.
//  * Reset() closes the descriptor and takes over another one, or none.
//  * A moved-from UniqueFd owns nothing; moving an object onto itself is harmless.
//
// Thread: like an int; one thread at a time.
#pragma once

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Owner of a file descriptor: a `unique_ptr` whose pointer is an int and whose null is -1.
class UniqueFd {
 public:
  /// Owns nothing.
  UniqueFd() noexcept = default;

  /// Takes over `fd`, which nobody else may close from now on; if it is negative, owns nothing.
  explicit UniqueFd(int fd) noexcept : fd_(fd < 0 ? -1 : fd) {}

  /// Takes over what `other` owns.
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}

  /// Closes its descriptor and takes over that of `other`; nothing happens on self-move.
  auto operator=(UniqueFd&& other) noexcept -> UniqueFd&;

  UniqueFd(const UniqueFd&) = delete;
  auto operator=(const UniqueFd&) -> UniqueFd& = delete;

  /// Closes the descriptor.
  ~UniqueFd() {
    if (fd_ >= 0) {  // most have been moved from
      Reset();
    }
  }

  /// Returns the descriptor, still owned by this object; -1 when there is none.
  [[nodiscard]] auto Get() const noexcept -> int { return fd_; }

  /// Returns the descriptor, from now on owned by the caller; -1 when there is none.
  [[nodiscard]] auto Release() noexcept -> int;

  /// Closes the descriptor, if there is one, and takes over `fd`. Keeps errno. Aborts if the
  /// descriptor turns out to be closed already: the next close would hit somebody else's file.
  void Reset(int fd = -1) noexcept;

  /// True when a descriptor is owned. Zero is one too.
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace TURTLE_SERVER
