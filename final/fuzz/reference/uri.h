// The target of a request by the grammar: RFC 9112, section 3.2, and RFC 3986.
//
// Thread: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace TURTLE_SERVER::reference {

/// The parts of a target. A missing part is "".
struct Target {
  char form = ' ';    ///< 'o'rigin, 'a'bsolute, 'c'onnect's authority, '*'
  std::string path;   ///< decoded, without dot segments and empty ones
  std::string query;  ///< as sent
  bool has_query = false;
  std::string authority;  ///< as sent
};

/// True for host [ ":" port ], where each may be missing (RFC 9110, section 7.2).
auto IsHostField(std::string_view text) -> bool;

/// @param target not empty
/// @param method as sent
/// @return nullopt: to be refused with 400
auto ReadTarget(std::string_view target, std::string_view method) -> std::optional<Target>;

}  // namespace TURTLE_SERVER::reference
