// For tests of programs that leave files where they were started.
#pragma once

#include <filesystem>
#include <system_error>

#include "support/site_folder.h"

namespace TURTLE_SERVER::test {

/// Gives this program and its children a new current directory for as long as it lives.
class OwnFolder {
 public:
  OwnFolder() { std::filesystem::current_path(folder_.Path()); }

  OwnFolder(const OwnFolder&) = delete;
  auto operator=(const OwnFolder&) -> OwnFolder& = delete;

  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::current_path(before_, ignored);
  }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
  const SiteFolder folder_;
};

}  // namespace TURTLE_SERVER::test
