// Follows a directory's name, which may later mean another directory.
//
// A site is often replaced by name: the directory is removed and created again, or a symbolic link
// (`current`) is pointed at the next release. An open descriptor never notices. So the name is
// looked up again now and then, and the descriptor is replaced if the name means another
// directory.
//
// Interface:
//  * Refresh() looks the name up again if the last lookup is old enough, or on request.
//  * Get() returns the directory, for openat(2) and similar calls.
//
// The directory is only passed through: permission to search it is enough.
//
// Thread: one at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// The directory that a path currently means.
class RootFolder {
 public:
  /// How long a lookup is trusted.
  static constexpr std::chrono::seconds kTrustTime{1};

  /// When Refresh() asks the file system.
  enum class Look : std::uint8_t {
    kNowAndThen,  ///< once in kTrustTime
    kAtOnce,      ///< in any case
  };

  /// Throws std::system_error, which names the directory, if it can't be opened or searched, or if
  /// `path` is relative and the current directory has been removed. Throws std::invalid_argument
  /// for a path with a NUL byte.
  /// @param path of the directory; a relative one is completed now
  /// @param what its name in an error message: "folder"
  RootFolder(const std::string& path, const std::string& what);

  /// Returns the open directory, until the next Refresh().
  [[nodiscard]] auto Get() const noexcept -> int { return folder_.Get(); }

  /// Returns the directory's name, absolute; links are not resolved.
  [[nodiscard]] auto Path() const noexcept -> const std::string& { return path_; }

  /// Looks the name up again. Keeps the old directory while the name means none that can be
  /// searched.
  /// @param now the loop's time
  /// @param look whether it may be postponed
  /// @return true if Get() is now another directory
  auto Refresh(TimePoint now, Look look) noexcept -> bool;

 private:
  const std::string path_;
  UniqueFd folder_;  // open, so nothing else can get its inode number
  dev_t device_ = 0;
  ino_t inode_ = 0;
  TimePoint looked_{};
};

/// Returns the absolute form of `path`, based on the current directory as the shell names it, `pwd
/// -L`: a link on the way there stays a link. Dots stay, slashes at the end don't. A path that
/// can't be completed is returned unchanged.
[[nodiscard]] auto AbsolutePath(const std::string& path) -> std::string;

}  // namespace TURTLE_SERVER
