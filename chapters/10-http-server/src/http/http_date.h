// Dates as HTTP writes them (RFC 9110, section 5.6.7).
//
// Interface:
//  * AppendHttpDate() writes the one form that may be sent: "Sun, 06 Nov 1994 08:49:37 GMT".
//  * CachedDate keeps the text of the current second: a busy server writes it once, not for every
//    response.
//
// The calendar is computed here. gmtime(3) and strftime(3) would use the time zone and the locale,
// which HTTP doesn't have.
//
// Thread: pure functions; a CachedDate belongs to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A time as in HTTP: whole seconds since 1970-01-01 00:00:00 UTC, leap seconds not counted (what
/// time(2) returns and struct stat holds).
using HttpTime = std::chrono::seconds;

/// The latest time that can be written: the last second of the year 9999.
inline constexpr HttpTime kMaxHttpTime{253402300799};
/// The earliest time that can be written: the first second of the year 0.
inline constexpr HttpTime kMinHttpTime{-62167219200};

/// Appends the form that is sent, IMF-fixdate: 29 characters. Times out of its range become the
/// nearest one within.
void AppendHttpDate(HttpTime time, std::string& out);

/// Caches the text of the current second.
class CachedDate {
 public:
  /// Returns the text for `now`; rewritten only if `now` differs from the last call's. Valid until
  /// the next call.
  [[nodiscard]] auto At(HttpTime now) -> std::string_view;

 private:
  HttpTime time_{};
  std::string text_;
};

}  // namespace TURTLE_SERVER
