// Hashes of passwords, as crypt(5) writes them.
//
// Interface:
//  * HashFault() checks the form of a hash; ProbeOf() returns a cheap setting of the same kind.
//  * HashPassword() hashes a password, by crypt_r(3).
//
// Four kinds are accepted: bcrypt ($2a$, $2b$, $2y$), SHA-512 ($6$), SHA-256 ($5$) and yescrypt
// ($y$). All are slow by intent. The older ones (DES, MD5, a plain SHA-1) are not, so a stolen file
// would soon be a list of passwords.
//
// Thread: any.
#pragma once

#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns why a text is no hash that is accepted, without the text; "" if it is one. Its cost is
/// limited as well: at most 15 for bcrypt, 5,000,000 rounds for SHA, and 64 MiB for yescrypt.
[[nodiscard]] auto HashFault(std::string_view text) -> std::string;

/// Returns a setting of the same kind that costs less than a millisecond.
/// @param hash without a HashFault()
[[nodiscard]] auto ProbeOf(std::string_view hash) noexcept -> std::string_view;

/// Hashes a password. Takes as long as the setting demands, some milliseconds to seconds.
/// @param password without a NUL
/// @param setting a hash, or the part of one before its last field
/// @return the hash; "" if the system does not know this kind, or refuses the password
/// @throws std::bad_alloc; std::system_error if the system has no crypt_r(3)
[[nodiscard]] auto HashPassword(const std::string& password, const std::string& setting)
    -> std::string;

}  // namespace TURTLE_SERVER
