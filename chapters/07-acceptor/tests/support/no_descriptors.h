// A process that is out of descriptors.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace TURTLE_SERVER::test {

/// Takes every descriptor that this process may still have, and returns them when destroyed.
class NoDescriptors {
 public:
  NoDescriptors() {
    taken_.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int first = taken_.front().Get();
    if (first < 0 || ::getrlimit(RLIMIT_NOFILE, &before_) != 0) {
      throw std::system_error(errno, std::generic_category(), "descriptors");
    }
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(first) + 8;  // or there might be a million
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (UniqueFd fd(::dup(first)); fd; fd.Reset(::dup(first))) {
      taken_.push_back(std::move(fd));
    }
  }

  NoDescriptors(const NoDescriptors&) = delete;
  auto operator=(const NoDescriptors&) -> NoDescriptors& = delete;

  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
  std::vector<UniqueFd> taken_;
};

}  // namespace TURTLE_SERVER::test
