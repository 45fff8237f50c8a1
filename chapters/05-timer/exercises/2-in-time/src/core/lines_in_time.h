// Lines from clients that have to finish what they begin.
//
// Thread: any; the callbacks run on the loop's.
#pragma once

#include <functional>
#include <string_view>

#include "base/clock.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// How long a client may take.
struct LineTimes {
  Clock::duration idle;  ///< between two lines, and before the first
  Clock::duration line;  ///< from a line's first byte to its line feed
};

/// Called with each whole line, without its line feed, which is valid for this call.
using LineHandler = std::function<void(Connection*, std::string_view)>;

/// The callbacks of a connection whose client sends lines. The connection's state is left to the
/// handler.
///
/// @param times how long a client may take
/// @param on_line may write, and may delete the connection
auto LinesInTime(LineTimes times, LineHandler on_line) -> ConnectionCallbacks;

}  // namespace TURTLE_SERVER
