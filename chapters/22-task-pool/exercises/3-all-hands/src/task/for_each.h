// One thing, done by many threads at once: the rows of a picture, the files of an archive.
//
// Thread: any, also one of the pool's own.
#pragma once

#include <cstddef>
#include <functional>

#include "task/task_pool.h"

namespace TURTLE_SERVER {

/// Calls body(0) to body(count - 1), each once, in the order of their numbers, several at a time:
/// on this thread and on those of the pool that have nothing else to do. Returns when all have
/// ended; nothing of it is left in the pool then.
///
/// If one throws, none is begun any more, and what it has thrown is thrown here (of several, one),
/// when those that run have ended.
///
/// @param pool that may help; without its help this thread does it alone
/// @param count how many
/// @param body called on several threads at once
void ForEach(TaskPool& pool, std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace TURTLE_SERVER
