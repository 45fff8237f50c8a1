// Maps the errors of MariaDB to our kinds. For mariadb_database.cpp.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "db/db_error.h"

namespace TURTLE_SERVER {

/// Returns the kind of an error number: of the server (mysqld_error.h), 1000 and more, or of the
/// client (errmsg.h), 2000 and more.
[[nodiscard]] auto MariaDbErrorKind(unsigned code) noexcept -> DbErrorKind;

/// Returns true if that error means that the connection is lost.
[[nodiscard]] auto IsMariaDbConnectionLost(unsigned code) noexcept -> bool;

/// Returns the message, as far as it may be shown. The server often quotes values: "Duplicate entry
/// 'ada@home' for key 'mail'". Texts that may contain a value are replaced.
[[nodiscard]] auto MariaDbReason(unsigned code, std::string_view text) -> std::string;

}  // namespace TURTLE_SERVER
