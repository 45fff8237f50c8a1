// A directory that is named once and may be another one later.
//
// A site is often replaced by its name: the directory is removed and made again, or a symbolic link
// (`current`) is turned to the next release. An open descriptor never notices, so the name is
// looked up again now and then, and the descriptor is replaced when the name means another
// directory.
//
// Interface:
//  * Refresh() looks the name up if the last time is long enough ago, or on request.
//  * Get() is the directory, for openat(2) and its like.
//
// The directory is only passed through: this takes the right to search it, but not to list it.
//
// Thread: one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// The directory that a path means.
class RootFolder {
 public:
  /// How long a lookup is trusted.
  static constexpr std::chrono::seconds kTrustTime{1};

  /// When Refresh() asks the file system.
  enum class Look : std::uint8_t {
    kNowAndThen,  ///< once in kTrustTime
    kAtOnce,      ///< in any case
  };

  /// Throws std::system_error, which names the directory, when it can't be opened or may not be
  /// searched, or when `path` is relative and the current directory has been removed. Throws
  /// std::invalid_argument for a path with a NUL byte in it.
  /// @param path of the directory; a relative one is completed now
  /// @param what names it in an error: "folder"
  RootFolder(const std::string& path, const std::string& what);

  /// Returns the open directory, until the next Refresh().
  [[nodiscard]] auto Get() const noexcept -> int { return folder_.Get(); }

  /// Returns the directory's name, absolute; links are not resolved.
  [[nodiscard]] auto Path() const noexcept -> const std::string& { return path_; }

  /// Looks the name up again. Keeps the old one as long as the name means no directory that may be
  /// searched.
  /// @param now the loop's time
  /// @param look whether it may be put off
  /// @return true: Get() is another directory from now on
  auto Refresh(TimePoint now, Look look) noexcept -> bool;

 private:
  const std::string path_;
  UniqueFd folder_;  // open, so nothing else can get its inode number
  dev_t device_ = 0;
  ino_t inode_ = 0;
  TimePoint looked_{};
};

/// Returns the absolute form of `path`, by the current directory as the shell calls it, `pwd -L`: a
/// link that leads there stays a link. Dots stay, slashes at the end don't. A path that can't be
/// completed stays as it is.
[[nodiscard]] auto AbsolutePath(const std::string& path) -> std::string;

}  // namespace TURTLE_SERVER
