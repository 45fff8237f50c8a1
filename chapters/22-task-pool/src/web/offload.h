// Handlers that take long, away from the loop.
//
//   TaskPool pool({2});  // threads
//   server.Get("/calc", Offload(pool, Priority::kLow, [](const ServerRequest& req,
//                                                        ServerResponse& res) {
//     res.Text(Calculate(req.Query("value").value_or("")));
//   }));
//
// The handler is an ordinary one. It is called on a thread of the pool, with a request that owns
// its texts. A Responder takes its response or exception to the loop, which sends it, with all
// middleware, as if the handler had run there.
//
// When the pool's queue is full, there is a response at once: 503 with Retry-After. A client that
// goes takes its request along: if that waits, it is not begun, and if it runs, req.Cancelled()
// says so. One that only says that it sends no more (a FIN) may have gone, or may wait for the
// response. To find out, it is sent an interim response "100 Continue", which only a client that
// has gone does not take.
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

  Priority priority;  ///< of the route's requests
  /// How long a request may wait for its turn; then 503. 0: as long as it takes.
  std::chrono::milliseconds deadline{0};
  std::chrono::seconds retry_after{1};  ///< for the client of a 503
};

/// Has `handler` called by `pool`.
/// @param pool outlives the server's Begin(). Without threads: `handler` is called on the loop, as
///     if it were not offloaded.
/// @param options priority, deadline
/// @param handler as for any route, and without regard to the thread that calls it
/// @return for HttpServer::Get() and its like
[[nodiscard]] auto Offload(TaskPool& pool, const OffloadOptions& options, SyncHandler handler)
    -> RouteAction;

}  // namespace TURTLE_SERVER
