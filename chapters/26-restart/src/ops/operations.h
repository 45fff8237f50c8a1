// The state of a server for the people who run it, as routes of another server.
//
//   HttpServer server(NetAddress("0.0.0.0", 80));
//   Operations operations(server);                       // from here on it is measured
//   HttpServer admin(NetAddress("127.0.0.1", 9507), {}, OneThread());
//   operations.AddTo(admin);
//   std::thread thread([&] { admin.Begin(); });
//   server.Begin();
//   admin.Stop();
//
// Interface:
//  * GET /metrics is what Prometheus collects.
//  * GET /livez is 200, or 503 and the loop that is stuck: start the process again.
//  * GET /readyz is 200, or 503 and the reason: send no clients here now. A server whose listeners
//    another process shares and serves is ready: clients that are sent there are served.
//  * GET / is a page with pictures of the loops, fed by /events once a second.
//  * Figures() is for further statistics.
//
// The other server should have its own listener, where strangers can't reach it, and its own
// thread. It then answers even when every loop of the first is stuck, and while that drains.
//
// A page that is open costs one reading of the statistics each second; without one nothing is done.
// A viewer that reads slowly misses some of them, and nothing is kept for it.
//
// Thread: the constructor and AddTo() from the owner's, before either server begins.
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
  std::size_t max_viewers = 16;              ///< pages that are open; the next gets 503
  std::chrono::milliseconds interval{1000};  ///< between two events of a page
};

/// The statistics of one server, and the routes that report them.
class Operations {
 public:
  /// @param server is measured from now on; has not begun; outlives this object
  /// @param options what is said
  /// @param clock as of ServerFigures
  explicit Operations(HttpServer& server, OperationsOptions options = {},
                      ClockSource clock = Clock::now);
  ~Operations();

  Operations(const Operations&) = delete;
  auto operator=(const Operations&) -> Operations& = delete;

  /// Returns the statistics, to add others.
  [[nodiscard]] auto Figures() noexcept -> ServerFigures& { return figures_; }

  /// Adds the routes, once. Throws as HttpServer::Route() where there are such already.
  /// @param admin has not begun; this object outlives its Begin(). Pages that are open then do not
  ///     keep it from ending.
  void AddTo(HttpServer& admin);

  /// How the server stands. Any thread.
  [[nodiscard]] auto GetReadiness() const noexcept -> Readiness;

  /// A line for each loop that is stuck; "": none is. Any thread.
  [[nodiscard]] auto StuckLoops() const -> std::string;

  /// Returns how many pages are open, as far as is known. Any thread.
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
