// Handlers that take long, away from the loop.
//
//   TaskPool pool({2});  // threads
//   server.Get("/calc", Offload(pool, Priority::kLow, [](const ServerRequest& req,
//                                                        ServerResponse& res) {
//     res.Text(Calculate(req.Query("value").value_or("")));
//   }));
//
// The handler is an ordinary one. It is called on a thread of the pool, with a request that owns
// what it shows; what it answers or throws goes home by a Responder, and is sent by the loop, with
// all middleware, as if it had been answered there.
//
// There is an answer at once when the pool's queue is full: 503 with Retry-After. A client that
// goes takes its request along: if that waits, it is not begun, and if it runs, req.Cancelled()
// says so. One that only says that it sends no more (a FIN) may have gone, or may wait for the
// answer: it is asked, by an interim reply "100 Continue", which only who has gone does not take.
//
// Thread: any, before the server begins. The handler is called on several threads at once.
#pragma once

#include <chrono>

#include "task/task_pool.h"
#include "web/routes.h"

namespace TURTLE_SERVER {

/// How a handler is offloaded.
struct OffloadOptions {
  /// @param first as `priority`
  OffloadOptions(Priority first = Priority::kNormal)  // NOLINT: most need no more
      : priority(first) {}

  Priority priority;  ///< whose requests go first
  /// How long a request may wait for its turn; then 503. 0: as long as it takes.
  std::chrono::milliseconds deadline{0};
  std::chrono::seconds retry_after{1};  ///< what the client of a 503 is told
};

/// Has `handler` called by `pool`.
/// @param pool outlives the server's Begin(). Without threads: the handler is called on the loop,
/// as
///     if it were not offloaded.
/// @param options priority, deadline
/// @param handler as for any route, and without regard to the thread that calls it
/// @return for HttpServer::Get() and its like
[[nodiscard]] auto Offload(TaskPool& pool, const OffloadOptions& options, SyncHandler handler)
    -> RouteAction;

}  // namespace TURTLE_SERVER
