#include "files/root_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "files/open_beneath.h"

namespace TURTLE_SERVER {

namespace {

auto IsSameFile(const char* one, const char* other) noexcept -> bool {
  struct stat first {};
  struct stat second {};
  return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// Returns "" if it was removed. PWD is trusted while it means the same directory, pwd(1).
auto CurrentDirectory() -> std::string {
  const char* const called = std::getenv("PWD");
  if (called != nullptr && called[0] == '/' && IsSameFile(called, ".")) {
    return called;
  }
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

// O_PATH succeeds even without search permission, so it is checked separately.
auto OpenToSearch(const std::string& path) noexcept -> UniqueFd {
  UniqueFd folder = OpenFolder(path);
  return folder && faccessat(folder.Get(), ".", X_OK, AT_EACCESS) == 0 ? std::move(folder)
                                                                       : UniqueFd();
}

}  // namespace

auto AbsolutePath(const std::string& path) -> std::string {
  std::string absolute = path;
  if (path.empty() || path.front() != '/') {
    const std::string here = CurrentDirectory();
    if (here.empty()) {
      return path;
    }
    absolute = path == "." ? here : (std::filesystem::path(here) / path).string();
  }
  while (absolute.size() > 1 && absolute.back() == '/') {
    absolute.pop_back();
  }
  return absolute;
}

RootFolder::RootFolder(const std::string& path, const std::string& what)
    : path_(AbsolutePath(path)) {
  if (path.find('\0') != std::string::npos) {
    throw std::invalid_argument(what + " \"" + path.substr(0, path.find('\0')) +
                                "\": a NUL byte is in it");
  }
  errno = ENOENT;  // a removed current directory can still be opened, but stays empty
  if (!path_.empty() && path_.front() == '/') {
    folder_ = OpenToSearch(path_);
    if (!folder_ && errno == EACCES && path.front() != '/') {
      folder_ = OpenToSearch(path);  // a directory further up may be closed to us
    }
  }
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
  UniqueFd folder = OpenToSearch(path_);
  if (!folder || fstat(folder.Get(), &status) != 0) {
    return false;  // it is gone again, is not a directory, or can't be searched yet
  }
  folder_ = std::move(folder);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

}  // namespace TURTLE_SERVER
