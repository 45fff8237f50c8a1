// Splits one job over many threads: the rows of a picture, the files of an archive.
//
// Thread: any, even one of the pool's own.
#pragma once

#include <cstddef>
#include <functional>

#include "task/task_pool.h"

namespace TURTLE_SERVER {

/// Calls body(0) to body(count - 1), each once, in the order of their numbers, several at a time:
/// on this thread and on idle threads of the pool. Returns when all have ended; then none of its
/// tasks is left in the pool.
///
/// If one throws, no more are started, and when the running ones have ended, its exception is
/// thrown here (one, if there are several).
///
/// @param pool may help; otherwise this thread does everything
/// @param count how many calls
/// @param body called on several threads at once
void ForEach(TaskPool& pool, std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace TURTLE_SERVER
