// Answers that take long, made beside the loop and sent in the order of the questions.
//
// Thread: the callbacks run on the loop's, Answer on those of the pool.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/looper.h"
#include "task/thread_pool.h"

namespace TURTLE_SERVER {

/// Makes the response to a line, which comes without its line feed. May take long, and may throw.
using Answer = std::function<std::string(const std::string& line)>;

/// How many lines of one client may have been taken and not been answered.
constexpr std::size_t kMostInWork = 16;

/// The callbacks of a connection whose client sends lines, each of which gets a response.
///
/// @param pool whose threads answer; outlives the loops
/// @param answer called on several threads at once
auto AnswerByPool(ThreadPool& pool, Answer answer) -> ConnectionCallbacks;

}  // namespace TURTLE_SERVER
