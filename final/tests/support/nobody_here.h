// A thread without root's rights to files, and directories that nobody may list.
#pragma once

#include <unistd.h>
#ifdef __linux__
#include <sys/fsuid.h>
#endif

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "support/site_folder.h"

namespace TURTLE_SERVER::test {

/// Takes the right to override permissions from this thread, if it has it, for as long as it lives.
/// Where that isn't possible, IsNobody() is false.
class NobodyHere {
 public:
  NobodyHere() {
#ifdef __linux__
    if (::geteuid() == 0) {
      ::setfsuid(65534);
    }
#endif
  }

  NobodyHere(const NobodyHere&) = delete;
  auto operator=(const NobodyHere&) -> NobodyHere& = delete;

  ~NobodyHere() {
#ifdef __linux__
    if (::geteuid() == 0) {
      ::setfsuid(0);
    }
#endif
  }

  /// False: permissions don't restrict this thread.
  [[nodiscard]] static auto IsNobody() -> bool {
#ifdef __linux__
    return true;
#else
    return ::geteuid() != 0;
#endif
  }
};

/// Directories that may be traversed but not listed, for as long as this lives.
class Passable {
 public:
  /// @param site outlives this
  /// @param names of directories in it, the outermost first
  Passable(const SiteFolder& site, std::vector<std::string> names)
      : site_(site), names_(std::move(names)) {
    for (const std::string& name : names_) {
      std::filesystem::permissions(site_.Path(name), std::filesystem::perms(0311));
    }
  }

  Passable(const Passable&) = delete;
  auto operator=(const Passable&) -> Passable& = delete;

  ~Passable() {
    for (const std::string& name : names_) {
      std::error_code ignored;
      std::filesystem::permissions(site_.Path(name), std::filesystem::perms(0755), ignored);
    }
  }

 private:
  const SiteFolder& site_;
  const std::vector<std::string> names_;
};

}  // namespace TURTLE_SERVER::test
