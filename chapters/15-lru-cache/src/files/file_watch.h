// Reports every change in some directories, as seen by the kernel.
//
// Interface:
//  * Add() begins to watch a directory.
//  * Changes are reported by the callback, on the loop's thread, before any connection is served in
//    that round. So a client that changes a file and then requests it gets the new one. A round
//    reports only changes before its own beginning, so a program that writes without a pause can't
//    occupy the loop.
//
// On Linux this is inotify(7). It does not report writes to mapped memory, changes by another
// machine in a network file system, or changes by another name of the file (a hard link). A caller
// that relies on it must check now and then. Elsewhere Available() is false.
//
// Thread: the loop's.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/unique_fd.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// Returns true if `path` is `directory`, or leads through it.
/// @param path relative to a root
/// @param directory relative to the same root; "" is the root, which contains everything
[[nodiscard]] inline auto IsBeneath(std::string_view path, std::string_view directory) noexcept
    -> bool {
  return directory.empty() || (path.substr(0, directory.size()) == directory &&
                               (path.size() == directory.size() || path[directory.size()] == '/'));
}

/// Watches directories beneath one root.
class FileWatch {
 public:
  /// The kind of object that was changed, added or removed.
  enum class Subject : std::uint8_t {
    kFile,    ///< anything but a directory
    kFolder,  ///< a directory, and with it every path that leads through it
  };

  /// Called with the path of the changed object, relative to the root; "" is the root: everything.
  using ChangeCallback = std::function<void(std::string_view path, Subject subject)>;

  /// The most directories that are watched. Beyond it, all watches are removed, and everything is
  /// reported as changed.
  static constexpr std::size_t kMaxFolders = 4096;

  /// @param looper outlives this object
  /// @param root the open root directory, borrowed for as long as this object lives
  /// @param on_change see ChangeCallback
  FileWatch(Looper& looper, int root, ChangeCallback on_change);
  ~FileWatch();

  FileWatch(const FileWatch&) = delete;
  auto operator=(const FileWatch&) -> FileWatch& = delete;

  /// Returns false if the kernel can't report changes.
  [[nodiscard]] auto Available() const noexcept -> bool { return static_cast<bool>(queue_); }

  /// Switches to another root directory: removes all watches and reports everything as
  /// changed.
  /// @param root as for the constructor
  void SetRoot(int root) noexcept;

  /// Watches `folder`, a path relative to the root, or "" for the root itself. If it is already
  /// watched, this only checks that the path still means that directory, because mounting a file
  /// system there raises no event. Call it before reading anything that must not become stale.
  /// @return false if it can't be watched, as when the limits of inotify(7) are reached, or if this
  ///     was the one too many that ended all watches
  auto Add(const std::string& folder) -> bool;

 private:
  struct Folder {
    int number;  // assigned by the kernel
    dev_t device;
    ino_t inode;
  };

  void OnEvents();
  auto IsStillThere(const std::string& path, const Folder& folder) const noexcept -> bool;
  void Forget(const std::string& folder);
  void ForgetAll();

  Looper& looper_;
  int root_;
  const ChangeCallback on_change_;
  UniqueFd queue_;
  WatchId watch_{-1, 0};
  std::unordered_map<std::string, Folder> folders_;
  std::unordered_map<int, std::string> names_;  // by the kernel's number
};

}  // namespace TURTLE_SERVER
