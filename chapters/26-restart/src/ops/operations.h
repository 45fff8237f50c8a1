// Reports the state of a server to its operators, as routes of another server.
//
//   HttpServer server(NetAddress("0.0.0.0", 80));
//   Operations operations(server);                       // from here on it measures the server
//   ServerOptions one_loop;
//   one_loop.threads = 1;
//   HttpServer admin(NetAddress("127.0.0.1", 9507), {}, one_loop);
//   operations.AddTo(admin);
//   std::thread thread([&] { admin.Begin(); });
//   server.Begin();
//   admin.Stop();
//   thread.join();
//
// Interface:
//  * GET /metrics returns the statistics for Prometheus.
//  * GET /livez returns 200, or 503 and the stuck loop: restart the process.
//  * GET /readyz returns 200, or 503 and the reason: send no clients here now. A server that has
//    handed its listeners over to another process still counts as ready: clients are served.
//  * GET / returns a page with pictures of the loops, updated by /events once a second.
//  * Figures() returns the statistics, to add others.
//
// The other server should have its own listener, out of reach of strangers, and its own thread.
// Then it responds even if every loop of the first is stuck, or draining.
//
// An open page costs one reading of the statistics each second; without one there is no work. A
// viewer that reads slowly misses some of them; no data is kept for it.
//
// Thread: the constructor and AddTo() on the owner's, before either server begins.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ops/figures_text.h"
#include "ops/server_figures.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// The options of an Operations.
struct OperationsOptions {
  std::string version{};                     ///< of the program
  std::chrono::seconds stuck_after{10};      ///< a loop whose round takes longer is stuck
  std::size_t max_viewers = 16;              ///< open pages; one more gets a 503
  std::chrono::milliseconds interval{1000};  ///< between two events of a page
};

/// The statistics of one server, and the routes that report them.
class Operations {
 public:
  /// @param server measured from now on; has not begun; outlives this object
  /// @param options limits and the version
  /// @param clock as for ServerFigures
  explicit Operations(HttpServer& server, OperationsOptions options = {},
                      ClockSource clock = Clock::now);
  ~Operations();

  Operations(const Operations&) = delete;
  auto operator=(const Operations&) -> Operations& = delete;

  /// Returns the statistics, to add others.
  [[nodiscard]] auto Figures() noexcept -> ServerFigures& { return figures_; }

  /// Adds the routes, once. Throws as HttpServer::Route() does if they exist already.
  /// @param admin has not begun; this object outlives its Begin(). Open pages don't prevent its
  ///     end.
  void AddTo(HttpServer& admin);

  /// Returns the readiness of the server. Any thread.
  [[nodiscard]] auto GetReadiness() const noexcept -> Readiness;

  /// Returns a line for each stuck loop, or "". Any thread.
  [[nodiscard]] auto StuckLoops() const -> std::string;

  /// Returns how many pages are open, approximately. Any thread.
  [[nodiscard]] auto Viewers() const -> std::size_t;

 private:
  class Stream;

  auto About() const -> FiguresOf;

  const HttpServer& server_;
  const OperationsOptions options_;
  ServerFigures figures_;
  std::shared_ptr<Stream> stream_;  // shared with the tasks of the other server's loops
};

}  // namespace TURTLE_SERVER
