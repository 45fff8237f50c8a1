// The files of ops/dashboard. The build makes them a part of the library, so that a program has its
// page wherever it is installed: see cmake/embed.cmake.
//
// Thread: pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A file that is a part of the program.
struct EmbeddedFile {
  std::string_view name;  ///< without a directory
  std::string_view text;  ///< its content
};

/// Returns all of them, in the order of their names.
[[nodiscard]] auto DashboardFiles() -> std::vector<EmbeddedFile>;

}  // namespace TURTLE_SERVER
