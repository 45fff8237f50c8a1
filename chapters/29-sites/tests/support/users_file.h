// Files with names and passwords, as rules with users read them.
#pragma once

#include <string>
#include <system_error>

#include "sites/password_hash.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER::test {

/// Returns true if this system can hash passwords.
inline auto HasCrypt() -> bool {
  try {
    return !HashPassword("", "$6$rounds=1000$salt$").empty();
  } catch (const std::system_error&) {
    return false;
  }
}

/// Returns the line of a name, with a hash that costs less than a millisecond.
inline auto UserLine(const std::string& name, const std::string& password) -> std::string {
  return name + ":" + HashPassword(password, "$6$rounds=1000$salt$") + "\n";
}

}  // namespace TURTLE_SERVER::test
