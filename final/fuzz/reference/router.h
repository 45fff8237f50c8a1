// Routes, by trying every one of them.
#pragma once

#include <string>
#include <vector>

namespace TURTLE_SERVER::reference {

/// A route: a method, and segments such as "users", "{id:int}", "{u:uuid}", "{name}", "{rest...}".
struct Route {
  std::string method;                 ///< as sent
  std::vector<std::string> segments;  ///< of its pattern
};

/// The route of a path.
struct Found {
  int route = -1;                   ///< which; -1: none
  std::vector<std::string> values;  ///< of its parameters
  std::vector<bool> has_path;       ///< for each route: would another method find it?
};

/// True if both match the same paths: a server can't have both for one method.
auto SamePaths(const Route& a, const Route& b) -> bool;

/// Looks for the most precise route.
/// @param path begins with a slash
auto FindRoute(const std::vector<Route>& routes, const std::string& method, const std::string& path)
    -> Found;

}  // namespace TURTLE_SERVER::reference
