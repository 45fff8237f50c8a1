// Receives lines, each within a time limit.
//
// Thread: any; the callbacks run on the loop's thread.
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

/// Called with each complete line, without its line feed; valid during the call.
using LineHandler = std::function<void(Connection*, std::string_view)>;

/// Returns the callbacks of a connection whose client sends lines. The connection's state is free
/// for the handler.
///
/// @param times how long a client may take
/// @param on_line may write, and may delete the connection
auto LinesInTime(LineTimes times, LineHandler on_line) -> ConnectionCallbacks;

}  // namespace TURTLE_SERVER
