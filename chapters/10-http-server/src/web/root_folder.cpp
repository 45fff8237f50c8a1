#include "web/root_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "web/open_beneath.h"

namespace TURTLE_SERVER {

auto AbsolutePath(const std::string& path) -> std::string {
  std::string absolute = path;
  if (path.empty() || path.front() != '/') {
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    if (error) {
      return path;
    }
    absolute = path == "." ? here.string() : (here / path).string();
  }
  while (absolute.size() > 1 && absolute.back() == '/') {
    absolute.pop_back();
  }
  return absolute;
}

RootFolder::RootFolder(const std::string& path, const std::string& what)
    : path_(AbsolutePath(path)), folder_(OpenFolder(path_)) {
  struct stat status {};
  if (!folder_ || fstat(folder_.Get(), &status) != 0) {
    throw std::system_error(errno, std::generic_category(), "open " + what + ' ' + path);
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

auto RootFolder::Refresh(TimePoint now, Look look) noexcept -> bool {
  if (look == Look::kNowAndThen && now - looked_ < kTrustTime) {
    return false;
  }
  looked_ = now;
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0 || (status.st_dev == device_ && status.st_ino == inode_)) {
    return false;
  }
  UniqueFd folder = OpenFolder(path_);
  if (!folder || fstat(folder.Get(), &status) != 0) {
    return false;  // it has just gone again, or is none
  }
  folder_ = std::move(folder);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

}  // namespace TURTLE_SERVER
