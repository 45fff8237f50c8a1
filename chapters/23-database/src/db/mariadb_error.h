// The errors of MariaDB in our kinds. For mariadb_database.cpp.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "db/db_error.h"

namespace TURTLE_SERVER {

/// Returns the kind of an error with this number: of the server's (mysqld_error.h), 1000 and more,
/// or of the client's (errmsg.h), 2000 and more.
[[nodiscard]] auto MariaDbErrorKind(unsigned code) noexcept -> DbErrorKind;

/// Returns true if the connection has gone with it.
[[nodiscard]] auto IsMariaDbConnectionLost(unsigned code) noexcept -> bool;

/// Returns the message, as far as it may be shown. The server likes to quote: "Duplicate entry
/// 'ada@home' for key 'mail'". Texts that may hold a value are replaced.
[[nodiscard]] auto MariaDbReason(unsigned code, std::string_view text) -> std::string;

}  // namespace TURTLE_SERVER
