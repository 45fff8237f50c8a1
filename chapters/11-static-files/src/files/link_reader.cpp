#include "files/link_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace TURTLE_SERVER {

LinkReader::LinkReader(int folder) noexcept : folder_(folder) {
  struct stat status {};
  if (fstat(folder, &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
}

auto LinkReader::Resolve(std::string_view path) noexcept -> int {
  inside_ = true;
  links_ = 0;
  size_ = 0;
  const bool ends_in_slash = !path.empty() && path.back() == '/';
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment == "..") {
      return EXDEV;
    }
    left_at_ = left_.size();
    int error = Step(segment);
    while (error == 0 && left_at_ < left_.size()) {
      error = Step(TakeLeft());
    }
    // A client must not learn whether a file outside exists, or may be read.
    if (error != 0 || !inside_) {
      return inside_ ? error : EXDEV;
    }
  }
  if (ends_in_slash && size_ + 1 < place_.size()) {
    place_[size_++] = '/';
  }
  return 0;
}

auto LinkReader::TakeLeft() noexcept -> std::string_view {
  const std::string_view left(left_.data() + left_at_, left_.size() - left_at_);
  const std::size_t end = std::min(left.find('/'), left.size());
  left_at_ += std::min(end + 1, left.size());
  return left.substr(0, end);
}

auto LinkReader::Step(std::string_view segment) noexcept -> int {
  if (segment.empty() || segment == ".") {
    return 0;
  }
  if (segment == "..") {
    return StepUp();
  }
  const std::size_t before = size_;
  if (!Append(segment)) {
    return ENAMETOOLONG;
  }
  Text link;  // left uninitialised
  const ssize_t length = readlinkat(folder_, place_.data(), link.data(), link.size());
  if (length < 0) {
    if (errno != EINVAL) {
      return errno;
    }
    EnterIfFolder();
    return 0;  // not a link
  }
  size_ = before;
  return Follow(std::string_view(link.data(), static_cast<std::size_t>(length)));
}

auto LinkReader::StepUp() noexcept -> int {
  if (inside_ && size_ > 0) {
    const std::size_t slash = std::string_view(place_.data(), size_).rfind('/');
    size_ = slash == std::string_view::npos ? 0 : slash;
    return 0;
  }
  inside_ = false;
  if (!Append("..")) {
    return ENAMETOOLONG;
  }
  EnterIfFolder();
  return 0;
}

auto LinkReader::Follow(std::string_view link) noexcept -> int {
  if (++links_ > kMaxLinks) {
    return ELOOP;
  }
  if (link.empty() || link.size() >= left_at_) {
    return link.empty() ? ENOENT : ENAMETOOLONG;
  }
  left_[--left_at_] = '/';
  left_at_ -= link.size();
  link.copy(left_.data() + left_at_, link.size());
  if (link.front() == '/') {
    inside_ = false;
    size_ = 0;
    place_[size_++] = '/';
    place_[size_] = '\0';
    EnterIfFolder();
  }
  return 0;
}

auto LinkReader::Append(std::string_view segment) noexcept -> bool {
  const bool apart = size_ > 0 && place_[size_ - 1] != '/';
  if (segment.size() + 2 > place_.size() - size_) {  // including a slash and the NUL
    return false;
  }
  if (apart) {
    place_[size_++] = '/';
  }
  size_ += segment.copy(place_.data() + size_, segment.size());
  place_[size_] = '\0';
  return true;
}

// Re-enters when the path reaches the directory.
void LinkReader::EnterIfFolder() noexcept {
  struct stat status {};
  if (!inside_ && fstatat(folder_, place_.data(), &status, 0) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_) {
    inside_ = true;
    size_ = 0;
  }
}

}  // namespace TURTLE_SERVER
