// Resolves a path with symbolic links to its place beneath a directory, without links.
//
// Interface: Resolve() a path; Place() is the result.
//
// A link may be absolute, lead to other links, or climb out of the directory and in again, as
// long as it ends inside. An absolute path is followed from "/" until it reaches the directory,
// which is recognised by its inode, whatever its name. Each segment of the path itself must end
// inside.
//
// The names are read one after the other by readlink(2) and stat(2), so the result may be outdated
// immediately. Open Place() in a way that follows no link.
//
// Thread: one at a time. Allocates nothing.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Follows the links of one path.
class LinkReader {
 public:
  /// How many links a path may contain, as on Linux.
  static constexpr int kMaxLinks = 40;

  /// @param folder an open directory, borrowed
  explicit LinkReader(int folder) noexcept;

  /// Resolves `path`, which is relative to the directory.
  /// @return 0, or an errno value: EXDEV if it leads out, even to a file that does not exist
  [[nodiscard]] auto Resolve(std::string_view path) noexcept -> int;

  /// Returns the place of the path, relative to the directory; "" is the directory itself. It ends
  /// with a slash if the path does. Valid until the next call.
  [[nodiscard]] auto Place() const noexcept -> std::string_view { return {place_.data(), size_}; }

 private:
  static constexpr std::size_t kMaxBytes = 4096;
  using Text = std::array<char, kMaxBytes>;

  // While it is outside, place_ is an absolute path, or one that begins with "..".
  auto Step(std::string_view segment) noexcept -> int;
  auto TakeLeft() noexcept -> std::string_view;
  auto Append(std::string_view segment) noexcept -> bool;
  auto StepUp() noexcept -> int;
  auto Follow(std::string_view link) noexcept -> int;
  void EnterIfFolder() noexcept;

  const int folder_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool inside_ = true;
  int links_ = 0;
  Text place_{};
  std::size_t size_ = 0;
  Text left_{};  // the rest of the path, at its end: the targets of links are put before it
  std::size_t left_at_ = 0;
};

}  // namespace TURTLE_SERVER
