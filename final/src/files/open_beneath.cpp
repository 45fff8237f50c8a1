// The portable version: one openat(2) for each segment.
#include "files/open_beneath.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "files/link_reader.h"

namespace TURTLE_SERVER {

namespace {

#ifdef __linux__
constexpr int kSearch = O_PATH;
#elif defined(O_SEARCH)
constexpr int kSearch = O_SEARCH;
#else
constexpr int kSearch = O_RDONLY;
#endif
constexpr int kFolder = kSearch | O_DIRECTORY | O_CLOEXEC;

// @param flags how the last segment is opened
auto OpenFollowingNoLink(int folder, std::string_view path, int flags) noexcept -> UniqueFd {
  UniqueFd current;
  int base = folder;
  while (true) {
    const std::size_t end = path.find('/');
    const bool last = end == std::string_view::npos;
    const std::string_view segment = path.substr(0, end);
    if (segment == "..") {
      errno = EXDEV;
      return UniqueFd();
    }
    std::array<char, 256> name{};  // NAME_MAX and its NUL
    if (segment.size() >= name.size()) {
      errno = ENAMETOOLONG;
      return UniqueFd();
    }
    segment.copy(name.data(), segment.size());
    UniqueFd next(
        openat(base, segment.empty() ? "." : name.data(), O_NOFOLLOW | (last ? flags : kFolder)));
    if (!next || last) {
      return next;
    }
    current = std::move(next);
    base = current.Get();
    path.remove_prefix(end + 1);
  }
}

// Returns true for errors of open(2) at a link that it must not follow: ENOTDIR if it should be a
// directory, and EMLINK on FreeBSD.
auto MayBeALink(int error) noexcept -> bool {
  return error == ELOOP || error == ENOTDIR || error == EMLINK;
}

auto OpenBySegments(int folder, std::string_view path, int flags) noexcept -> UniqueFd {
  UniqueFd file = OpenFollowingNoLink(folder, path, flags);
  if (file || !MayBeALink(errno)) {
    return file;
  }
  LinkReader links(folder);
  if (const int error = links.Resolve(path); error != 0) {
    errno = error;
    return UniqueFd();
  }
  return OpenFollowingNoLink(folder, links.Place(), flags);
}

}  // namespace

auto OpenBeneathBySegments(int folder, const std::string& path) noexcept -> UniqueFd {
  return OpenBySegments(folder, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

auto OpenFolder(const std::string& path) noexcept -> UniqueFd {
  return UniqueFd(open(path.c_str(), kFolder));
}

auto IsFolderBeneath(int folder, const std::string& path) noexcept -> bool {
  return static_cast<bool>(OpenBySegments(folder, path, kFolder));
}

#ifndef __linux__
auto OpenBeneath(int folder, const std::string& path) noexcept -> UniqueFd {
  return OpenBeneathBySegments(folder, path);
}
#endif

}  // namespace TURTLE_SERVER
