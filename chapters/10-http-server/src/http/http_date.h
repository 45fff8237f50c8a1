// Dates as HTTP writes them (RFC 9110, section 5.6.7).
//
// Interface:
//  * AppendHttpDate() writes the one form that may be sent: "Sun, 06 Nov 1994 08:49:37 GMT".
//  * CachedDate keeps the text of the current second: a busy server writes it once, not for every
//    response.
//
// The calendar is computed here. gmtime(3) and strftime(3) would ask the time zone and the locale,
// which HTTP has none of.
//
// Thread: pure functions; a CachedDate belongs to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A moment as HTTP knows it: whole seconds since 1970-01-01 00:00:00 UTC, leap seconds not
/// counted (what time(2) returns and struct stat holds).
using HttpTime = std::chrono::seconds;

/// The latest moment that has a form: the last second of the year 9999.
inline constexpr HttpTime kMaxHttpTime{253402300799};
/// The earliest moment that has a form: the first second of the year 0.
inline constexpr HttpTime kMinHttpTime{-62167219200};

/// Appends the form that is sent, IMF-fixdate: 29 characters. Moments that have none become the
/// nearest one that has.
void AppendHttpDate(HttpTime time, std::string& out);

/// The text of the current second.
class CachedDate {
 public:
  /// The text for `now`; written again only when `now` differs from the last call's. Valid until
  /// the next call.
  [[nodiscard]] auto At(HttpTime now) -> std::string_view;

 private:
  HttpTime time_{};
  std::string text_;
};

}  // namespace TURTLE_SERVER
