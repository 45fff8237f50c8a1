// The files of ops/dashboard. The build embeds them in the library, so a program has its page
// wherever it is installed: see cmake/embed.cmake.
//
// Thread: pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A file embedded in the program.
struct EmbeddedFile {
  std::string_view name;  ///< without a directory
  std::string_view text;  ///< its content
};

/// Returns all embedded files, sorted by name.
[[nodiscard]] auto DashboardFiles() -> std::vector<EmbeddedFile>;

}  // namespace TURTLE_SERVER
