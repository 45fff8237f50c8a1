// The error of a failed database call; and whether the build supports a database at all.
#pragma once

#include <functional>
#include <string_view>

#include "db/mariadb_database.h"

namespace TURTLE_SERVER::test {

/// Returns the error that `what` throws; if it throws none, an error that says so.
inline auto Failure(const std::function<void()>& what) -> DbError {
  try {
    what();
  } catch (const DbError& error) {
    return error;
  }
  return {DbErrorKind::kOther, "nothing", "was thrown"};
}

/// True if this build supports `database`, whether its server runs or not.
inline auto IsBuiltWith(Database& database) -> bool {
  const DbError error = Failure([&] { static_cast<void>(database.Open()); });
  return std::string_view(error.what()).find("was built without") == std::string_view::npos;
}

/// True if this build supports MariaDB. If it does but finds no server, the test fails.
inline auto IsBuiltWithMariaDb() -> bool {
  MariaDbOptions nowhere;
  nowhere.unix_socket = "/nonexistent";
  return IsBuiltWith(*MariaDbDatabase(nowhere));
}

}  // namespace TURTLE_SERVER::test
