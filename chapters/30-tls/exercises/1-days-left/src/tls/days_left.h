// How long the certificates of a file are still valid: the number that a monitor alarms on.
//
//   const int days = DaysLeft("/etc/ssl/example.org.pem", std::chrono::system_clock::now());
//   if (days < 14) {
//     Log(LogLevel::kWarning, "example.org: " + std::to_string(days) + " days left");
//   }
//
// A client refuses a chain as soon as one of its certificates has expired, so the one that expires
// first counts, wherever it is in the file.
//
// Interface:
//  * DaysLeft() returns the number of whole days.
//
// Thread: any; it reads the file, so no loop should call it often.
// Source: RFC 5280, section 4.1.2.5
#pragma once

#include <chrono>
#include <string>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns how many whole days are left until the first certificate of a file expires.
///
/// Days have 24 hours and are rounded down: an hour less than three days is 2. In the last day, and
/// in its last second, the result is 0. From the next moment on it is -1, and -2 after a day more.
/// No date is too late: a certificate "without an end" expires at the end of the year 9999.
///
/// Blocks of PEM that are no certificates, such as a key, are skipped. No error of OpenSSL is left
/// in this thread's queue, whether it returns or throws: TLS would take it for one of its own.
///
/// @param chain the path of a file in PEM, with at least one certificate
/// @param now the time to compare with
/// @throws std::invalid_argument, which begins with the path and ": ". The file can't be opened:
///     "it can't be opened". It has none: "it has no certificate in PEM". One can't be read, or its
///     end is no time: the message has its number, from 1 on, as in "certificate 2: bad end line"
[[nodiscard]] auto DaysLeft(const std::string& chain, std::chrono::system_clock::time_point now)
    -> int;

}  // namespace TURTLE_SERVER
