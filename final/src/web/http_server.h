// A web server with an address, routes, and handlers mounted under paths.
//
//   HttpServer server(NetAddress("0.0.0.0", 20080));
//   server.Get("/hello/{name}", [](const ServerRequest& req, ServerResponse& res) {
//     res.Text("hello, " + std::string(req.Parameter("name")));
//   });
//   server.Files("/", "site");
//   server.Begin();
//
// Interface:
//  * Get(), Post(), Put(), Patch(), Delete() and Route() add a function that handles a path; Use()
//    adds middleware around all of them.
//  * Group() makes a group of routes with its own prefix and middleware.
//  * Mount() puts a handler under a path, for requests that have no route.
//  * Files() mounts the files of a directory.
//  * WebSocket() accepts WebSockets under a path.
//  * ErrorFormat() sets the format of error responses.
//  * Observe() adds an observer of each request.
//  * SetOptions() changes limits and timeouts of a running server; SetMaxConnections(),
//    SetAddressLimit() and Block() decide which clients are let in.
//  * Begin() serves until Stop(), or until Drain() has served every client.
//  * StopOnSignals() makes SIGINT and SIGTERM call Stop().
//  * IsReady() is true while new clients should be sent here.
//
// It puts HTTP on a TurtleServer: each connection has an HttpSession as its state, and each loop a
// LoopHttp with its own handlers.
//
// Thread: Stop() may be called on any thread and in signal handlers. Drain(), SetMaxConnections(),
// IsReady(), IsLeaving(), IsHandedOver() and GetRefusals() may be called on any thread;
// SetOptions() on a loop's, Block() and SetAddressLimit() on the first loop's, the rest on the
// owner's.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/address_limit.h"
#include "core/cidr_set.h"
#include "core/net_address.h"
#include "core/server_options.h"
#include "core/signal_watch.h"
#include "core/turtle_server.h"
#include "web/error_formats.h"
#include "web/exchange_observer.h"
#include "web/http_exchange.h"
#include "web/http_options.h"
#include "web/loop_http.h"
#include "web/request_handler.h"
#include "web/route_group.h"
#include "web/routes.h"

namespace TURTLE_SERVER {

struct StaticFilesOptions;
struct WebSocketHandlers;
struct WebSocketOptions;

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

  /// Makes a server without a listener: AlsoListen() adds each.
  HttpServer(HttpOptions options, ServerOptions server_options);

  /// Handles requests by `method` for the paths of `pattern` with `action`. A path that has any
  /// route belongs to the routes: mounts are not asked. OPTIONS gets the path's methods, and
  /// any other method a 405 with them. HEAD is handled as GET, without the body. Before
  /// Begin().
  /// @param method GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS
  /// @param pattern such as "/users/{id:int}", see http/route_pattern.h; or '~' and a regular
  ///     expression, see http/router.h
  /// @param action a function of (const ServerRequest&, ServerResponse&), or, to respond later, of
  ///     (const ServerRequest&, Responder). Called when the request's body is complete, on the
  ///     threads of all loops at the same time.
  /// @param options limits of this route, such as {1 << 20} for bodies of at most 1 MiB
  /// @return this
  /// @throws std::invalid_argument if the pattern is invalid, or if the same paths already have a
  ///     route for this method; the text names them
  auto Route(Method method, std::string pattern, RouteAction action,
             const RouteOptions& options = {}) -> HttpServer&;

  /// Calls Route() for GET, which includes HEAD.
  auto Get(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kGet, std::move(pattern), std::move(action), options);
  }

  /// Calls Route() for POST.
  auto Post(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kPost, std::move(pattern), std::move(action), options);
  }

  /// Calls Route() for PUT.
  auto Put(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kPut, std::move(pattern), std::move(action), options);
  }

  /// Calls Route() for PATCH.
  auto Patch(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kPatch, std::move(pattern), std::move(action), options);
  }

  /// Calls Route() for DELETE.
  auto Delete(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kDelete, std::move(pattern), std::move(action), options);
  }

  /// Calls `middleware` for each request whose path has routes, inside the middleware that was
  /// added before. Before Begin().
  /// @return this
  auto Use(Middleware middleware) -> HttpServer&;

  /// Makes a group of routes under `prefix`, with middleware around them alone; see
  /// web/route_group.h. Before Begin().
  /// @param prefix a path such as "/api", without a slash at its end, or ""
  /// @throws std::invalid_argument for any other prefix
  [[nodiscard]] auto Group(std::string prefix) -> RouteGroup {
    return {routes_, Routes::kServer, std::move(prefix)};
  }

  /// Makes a handler for each loop with `factory`, for the paths under `prefix`. The longest prefix
  /// wins; a path without a handler gives a 404. Before Begin().
  /// @param prefix "/", or a path such as "/cgi-bin", without a slash at its end; throws
  ///     std::invalid_argument for any other
  /// @param factory called in Begin(), once for each loop, on the thread that called Begin()
  /// @return this
  auto Mount(std::string prefix, HandlerFactory factory) -> HttpServer&;

  /// Mounts the files of a directory, with a cache of 64 MiB that the loops divide among them.
  /// Begin() throws std::system_error, which names the directory, if it can't be opened.
  /// @param prefix as Mount()
  /// @param directory path
  /// @return this
  auto Files(std::string prefix, std::string directory) -> HttpServer&;

  /// Does the same with your own options.
  /// @param prefix as Mount()
  /// @param options the directory is `root`. `cache.max_bytes` is for the whole server, and each
  ///     loop gets its share: 64 MiB if it is not set; 0 means no cache. Include
  ///     files/static_files.h for StaticFilesOptions.
  /// @return this
  auto Files(std::string prefix, const StaticFilesOptions& options) -> HttpServer&;

  /// Accepts WebSockets under a path, with the default limits. The server's middleware isn't called
  /// for them: WebSocketHandlers::on_request checks a client. Include websocket/websocket.h.
  /// @param path as Mount()'s prefix; a path below it gives a 404
  /// @param handlers called on the threads of all loops at the same time
  /// @return this
  auto WebSocket(std::string path, const WebSocketHandlers& handlers) -> HttpServer&;

  /// Does the same with your own limits. Include websocket/websocket_options.h.
  /// @throws std::invalid_argument for limits that can't be meant, as Checked()
  auto WebSocket(std::string path, const WebSocketHandlers& handlers,
                 const WebSocketOptions& options) -> HttpServer&;

  /// Lets `formatter` write the body of each error response under `prefix`, whether a
  /// route, a mount or the parser has refused the request. The longest prefix wins;
  /// without a formatter, the body is an HTML page. A malformed path counts as the
  /// client wrote it; a request without a path gets the format of "/". Before
  /// Begin().
  /// @param prefix as Mount()
  /// @param formatter such as ProblemJson; not empty, else throws std::invalid_argument
  /// @return this
  auto ErrorFormat(std::string prefix, ErrorFormatter formatter) -> HttpServer&;

  /// Shows each request to observers that `factory` makes, one for each loop. Before Begin().
  /// @param factory called in Begin(), like a handler's
  /// @return this
  auto Observe(ObserverFactory factory) -> HttpServer&;

  /// Listens on one more address. Throws as the constructor does.
  auto AlsoListen(const NetAddress& local) -> HttpServer&;

  /// Serves one more listener, such as a UnixListener's.
  auto AlsoListen(Socket listener) -> HttpServer&;

  /// Adds the listeners of one address, TurtleServer::AlsoListen().
  auto AlsoListen(std::vector<Socket> listeners) -> HttpServer&;

  /// Sets new limits and timeouts, also for connected clients. Before Begin(), or on a loop's
  /// thread; the other loops follow soon. Throws as the constructor does.
  void SetOptions(const HttpOptions& options);

  /// Replaces ServerOptions::max_connections. A client above the limit gets a 503.
  void SetMaxConnections(std::size_t count) noexcept { server_.SetMaxConnections(count); }

  /// Replaces ServerOptions::address_limit. A client above the limit gets a 503.
  void SetAddressLimit(AddressLimit limit) { server_.SetAddressLimit(std::move(limit)); }

  /// Refuses these addresses from now on, TurtleServer::Block().
  void Block(CidrSet addresses) { server_.Block(std::move(addresses)); }

  /// Serves until Stop() or Drain(). May be called once. Throws the exceptions of a factory, and
  /// std::system_error if the threads can't be started.
  void Begin();

  /// Ends Begin(): no client is accepted any more; requests under way get their responses within
  /// ServerOptions::stop_timeout. If called earlier, Begin() returns at once. Async-signal-safe.
  void Stop() noexcept { server_.Stop(); }

  /// Ends Begin() without losing a request, TurtleServer::Drain(). Meanwhile each response says
  /// `Connection: close`, and its connection closes once the client has read it. Any thread.
  /// @param queue which process serves the clients still waiting in the kernel
  void Drain(ListenQueue queue = ListenQueue::kOurs) { server_.Drain(queue); }

  /// Returns true if new clients should be sent here: once all loops run, until Drain() or Stop().
  /// Any thread.
  [[nodiscard]] auto IsReady() const noexcept -> bool { return server_.IsReady(); }

  /// Returns true from Drain() or Stop() on: the server is about to end. Any thread.
  [[nodiscard]] auto IsLeaving() const noexcept -> bool { return server_.IsLeaving(); }

  /// Returns true if another process serves new clients, TurtleServer::IsHandedOver(). Any thread.
  [[nodiscard]] auto IsHandedOver() const noexcept -> bool { return server_.IsHandedOver(); }

  /// Returns the listeners' descriptors, TurtleServer::ListenerFds(). Before Begin().
  [[nodiscard]] auto ListenerFds() const -> std::vector<int> { return server_.ListenerFds(); }

  /// Makes SIGINT and SIGTERM call Stop(). After the first signal both are handled as before, so
  /// that a second one ends the program at once. Before Begin().
  /// @return this
  /// @throws as SignalWatch
  auto StopOnSignals() -> HttpServer&;

  /// Returns the address of the first listener, with the port that the kernel chose for port 0.
  [[nodiscard]] auto LocalAddress() const -> NetAddress { return server_.LocalAddress(); }

  /// Returns the loops, for other code that must run on them.
  [[nodiscard]] auto Loopers() const -> std::vector<Looper*> { return server_.Loopers(); }

  /// Counts the clients that were refused. Any thread.
  [[nodiscard]] auto GetRefusals() const -> Refusals { return server_.GetRefusals(); }

 private:
  // One loop's handlers, and its HTTP/1.1.
  struct LoopParts {
    LoopParts(Looper& looper, const HttpOptions& options) : http(looper, options), http1(http) {}

    LoopHttp http;
    Http1Shared http1;
  };

  auto PartsOf(const Looper* looper) noexcept -> LoopParts&;
  void RefuseForWantOfRoom(Connection* connection);

  HttpOptions options_;  // given to loops when they are made
  Routes routes_;
  ErrorFormats error_formats_;
  std::vector<ObserverFactory> observers_;
  TurtleServer server_;
  // One for each loop while Begin() runs. Handlers may use their loop, so they are destroyed first.
  std::vector<std::unique_ptr<LoopParts>> loops_;
  std::optional<SignalWatch> stop_signals_;  // on the first loop
};

}  // namespace TURTLE_SERVER
