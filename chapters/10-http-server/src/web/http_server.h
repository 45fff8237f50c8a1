// A web server with an address, and handlers mounted under paths.
//
//   HttpServer server(NetAddress("0.0.0.0", 20080));
//   server.Mount("/api", [](Looper&) { return std::make_unique<Api>(); });  // a RequestHandler
//   server.Begin();
//
// Interface:
//  * Mount() puts a handler under a path.
//  * Begin() serves until Stop().
//
// It puts HTTP on a TurtleServer: each connection has an HttpSession as its state, and each loop a
// LoopHttp with its own handlers.
//
// Thread: Stop() on any thread and in signal handlers, the rest on the owner's.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/net_address.h"
#include "core/server_options.h"
#include "core/turtle_server.h"
#include "web/http_exchange.h"
#include "web/http_options.h"
#include "web/loop_http.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// A web server on several event loops.
class HttpServer {
 public:
  /// Binds and listens. Throws std::system_error, which names the address, if that fails,
  /// and std::invalid_argument if the longest permitted head would not fit into a
  /// connection.
  /// @param local address to listen on; port 0 is any free port, see LocalAddress()
  /// @param options limits and timeouts of the clients
  /// @param server_options threads, stop timeout, the listener
  explicit HttpServer(const NetAddress& local, HttpOptions options = {},
                      ServerOptions server_options = {});

  /// Makes a handler for each loop with `factory`, for the paths under `prefix`. The longest prefix
  /// wins; a path without a handler gives a 404. Before Begin().
  /// @param prefix "/", or a path such as "/cgi-bin", without a slash at its end; throws
  ///     std::invalid_argument for any other
  /// @param factory called in Begin(), once for each loop, on the thread that called Begin()
  /// @return this
  auto Mount(std::string prefix, HandlerFactory factory) -> HttpServer&;

  /// Listens on one more address. Throws as the constructor does.
  auto AlsoListen(const NetAddress& local) -> HttpServer&;

  /// Serves until Stop(). May be called once. Throws the exceptions of a factory, and
  /// std::system_error if the threads can't be started.
  void Begin();

  /// Ends Begin(): no client is accepted any more; requests under way get their responses within
  /// ServerOptions::stop_timeout. If called earlier, Begin() returns at once. Async-signal-safe.
  void Stop() noexcept { server_.Stop(); }

  /// Returns the address of the first listener, with the port that the kernel chose for port 0.
  [[nodiscard]] auto LocalAddress() const -> NetAddress { return server_.LocalAddress(); }

  /// Returns the loops, of which the first accepts, for other code that must run on them.
  [[nodiscard]] auto Loopers() const -> std::vector<Looper*> { return server_.Loopers(); }

 private:
  // One loop's handlers, and its HTTP/1.1.
  struct LoopParts {
    LoopParts(Looper& looper, const HttpOptions& options) : http(looper, options), http1(http) {}

    LoopHttp http;
    Http1Shared http1;
  };

  auto PartsOf(const Looper* looper) noexcept -> LoopParts&;

  const HttpOptions options_;
  std::vector<std::pair<std::string, HandlerFactory>> mounts_;
  TurtleServer server_;
  // One for each loop while Begin() runs. Handlers may use their loop, so they are destroyed first.
  std::vector<std::unique_ptr<LoopParts>> loops_;
};

}  // namespace TURTLE_SERVER
