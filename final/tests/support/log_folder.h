// A directory of log files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/site_folder.h"

namespace TURTLE_SERVER::test {

/// A directory that is removed, with its content, when this object is destroyed.
class LogFolder : public SiteFolder {
 public:
  /// Returns a file's content.
  [[nodiscard]] auto Read(std::string_view name) const -> std::string {
    std::ostringstream text;
    text << std::ifstream(Path(name), std::ios::binary).rdbuf();
    return text.str();
  }

  /// Returns the names, sorted: rolled files are in the order of their times, and before the one
  /// that is written to.
  [[nodiscard]] auto Names() const -> std::vector<std::string> {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

}  // namespace TURTLE_SERVER::test
