// A directory of files, for as long as a test needs it.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace TURTLE_SERVER::test {

/// A directory that is removed with this object.
class SiteFolder {
 public:
  SiteFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "turtle_site_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
    }
    path_ = name;
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }

  SiteFolder(const SiteFolder&) = delete;
  auto operator=(const SiteFolder&) -> SiteFolder& = delete;

  ~SiteFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  /// Returns the path of the directory, or of a name in it.
  [[nodiscard]] auto Path(std::string_view name = {}) const -> std::string {
    return name.empty() ? path_.string() : (path_ / name).string();
  }

  /// Writes a file, and creates its directories.
  void Write(std::string_view name, std::string_view content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
  }

  /// Makes a symbolic link.
  void Link(std::string_view name, const std::string& target) const {
    std::filesystem::create_symlink(target, path_ / name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace TURTLE_SERVER::test
