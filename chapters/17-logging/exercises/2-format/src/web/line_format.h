// Formats a line of the access log with a pattern: "%h %r %s %D".
//
// Thread: any, several at once: Append() only reads constant data.
#pragma once

#include <string>
#include <string_view>

#include "web/access_log.h"
#include "web/exchange_observer.h"

namespace TURTLE_SERVER {

/// The format of a line. Text is copied, except for:
///
/// | | |
/// |---|---|
/// | %h | the client's address |
/// | %t | the time from AccessLogLine |
/// | %r | the request line |
/// | %s | the status |
/// | %b, %B | the bytes of the body; if there are none, - for %b and 0 for %B |
/// | %D | microseconds from the complete head to the end, rounded |
/// | %X | + if the response is complete, X if not |
/// | %{Name}i | the request's field of that name, the first if there are several |
/// | %% | a percent sign |
///
/// A value that is unknown, empty or missing is a -, and so is a status of 0. Text from the client,
/// request line and fields, is escaped as in AppendCombined().
class LineFormat {
 public:
  /// @throws std::invalid_argument, with the place, counted from 1: "format: no %q (at 7)",
  ///     "format: % is not ended (at 12)", "format: a control character (at 3)"
  explicit LineFormat(std::string_view text);

  /// Appends a line and its line feed. Allocates only the room in `out`.
  void Append(const AccessLogLine& line, const ExchangeRecord& record, std::string& out) const;
};

}  // namespace TURTLE_SERVER
