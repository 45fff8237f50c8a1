// A process whose files may not grow: for a program this is like a full disk.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <cerrno>
#include <system_error>

namespace TURTLE_SERVER::test {

/// Makes write(2) fail with EFBIG beyond `bytes` of any file, until this object is destroyed.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    if (::getrlimit(RLIMIT_FSIZE, &before_) != 0) {
      throw std::system_error(errno, std::generic_category(), "getrlimit");
    }
    rlimit small = before_;
    small.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &small);
  }

  SmallFiles(const SmallFiles&) = delete;
  auto operator=(const SmallFiles&) -> SmallFiles& = delete;

  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace TURTLE_SERVER::test
