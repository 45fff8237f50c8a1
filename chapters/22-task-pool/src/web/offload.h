// Runs slow handlers away from the loop.
//
//   TaskPool pool({2});  // threads
//   server.Get("/calc", Offload(pool, Priority::kLow, [](const ServerRequest& req,
//                                                        ServerResponse& res) {
//     res.Text(Calculate(req.Query("value").value_or("")));
//   }));
//
// The handler is an ordinary one. It is called on a thread of the pool, with a request that owns
// its text. A Responder takes its response or exception to the loop, which sends it through all
// middleware, as if the handler had run there.
//
// If the pool's queue is full, the client gets a 503 with Retry-After at once. When a client
// closes, its request is cancelled: if it waits, it never runs; if it runs, req.Cancelled() becomes
// true. A client that closes only its sending side (a FIN) may be gone, or may wait for the
// response. To find out, it is sent an interim response "100 Continue"; a client that is gone
// answers with a reset.
//
// Thread: any, before the server begins. The handler is called on several threads at once.
#pragma once

#include <chrono>

#include "task/task_pool.h"
#include "web/routes.h"

namespace TURTLE_SERVER {

/// How a handler is offloaded.
struct OffloadOptions {
  /// @param first value of `priority`
  OffloadOptions(Priority first = Priority::kNormal)  // NOLINT: most need no more
      : priority(first) {}

  Priority priority;  ///< of this route's requests
  /// How long a request may wait for a thread; then 503. 0: without limit.
  std::chrono::milliseconds deadline{0};
  std::chrono::seconds retry_after{1};  ///< told to the client of a 503
};

/// Calls `handler` on a thread of `pool`.
/// @param pool outlives the server's Begin(). Without threads, `handler` runs on the loop, as if it
///     were not offloaded.
/// @param options priority, deadline
/// @param handler like that of any route, but independent of the thread it runs on
/// @return a handler for HttpServer::Get() and similar functions
[[nodiscard]] auto Offload(TaskPool& pool, const OffloadOptions& options, SyncHandler handler)
    -> RouteAction;

}  // namespace TURTLE_SERVER
