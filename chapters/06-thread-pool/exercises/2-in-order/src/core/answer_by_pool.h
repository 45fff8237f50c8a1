// Makes slow responses on a pool and sends them in the order of the requests.
//
// Thread: the callbacks run on the loop's, Answer on the pool's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/looper.h"
#include "task/thread_pool.h"

namespace TURTLE_SERVER {

/// Makes the response to a line without its line feed. It may take long, and may throw.
using Answer = std::function<std::string(const std::string& line)>;

/// How many lines of one client may be waiting for their responses.
constexpr std::size_t kMostInWork = 16;

/// Returns the callbacks of a connection whose client sends lines, each of which gets a response.
///
/// @param pool runs `answer`; outlives the loops
/// @param answer called on several threads at once
auto AnswerByPool(ThreadPool& pool, Answer answer) -> ConnectionCallbacks;

}  // namespace TURTLE_SERVER
