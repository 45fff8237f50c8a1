// A web server: an address, routes, and handlers mounted under paths.
//
//   HttpServer server(NetAddress("0.0.0.0", 20080));
//   server.Get("/hello/{name}", [](const ServerRequest& req, ServerResponse& res) {
//     res.Text("hello, " + std::string(req.Parameter("name")));
//   });
//   server.Files("/", "site");
//   server.Begin();
//
// Interface:
//  * Get(), Post(), Put(), Patch(), Delete() and Route() add a function that answers a path, Use()
//    adds middleware around all of them.
//  * Group() makes a part of the routes with a prefix and middleware of theirs.
//  * Mount() puts a handler under a path, for requests that have no route.
//  * Files() mounts the files of a directory.
//  * ErrorFormat() says how errors look.
//  * Observe() adds an observer of each request.
//  * SetOptions() changes limits and timeouts while it serves; SetMaxConnections() and Block()
//    decide which clients are let in.
//  * Begin() serves until Stop(), or until Drain() has let everybody finish.
//  * StopOnSignals() makes SIGINT and SIGTERM call Stop().
//  * IsReady() says whether new clients should be sent here.
//
// It puts HTTP on a TurtleServer: every connection gets an HttpSession as its state, and every
// loop a LoopHttp with its own handlers.
//
// Thread: Stop() from any thread and from signal handlers; Drain(), SetMaxConnections(), IsReady(),
// IsLeaving(), IsHandedOver() and GetRefusals() from any; SetOptions() on a loop's, Block() on the
// first loop's, the rest from the owner's.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// A web server on several event loops.
class HttpServer {
 public:
  /// Binds and listens. Throws std::system_error, which names the address, when that is not
  /// possible, and std::invalid_argument for a head that is
  /// longer than a connection can keep.
  /// @param local where to listen; port 0 is any free port, see LocalAddress()
  /// @param options limits and timeouts of the clients
  /// @param server_options threads, stop timeout, the listener
  explicit HttpServer(const NetAddress& local, HttpOptions options = {},
                      ServerOptions server_options = {});

  /// Without a listener: AlsoListen() brings each.
  HttpServer(HttpOptions options, ServerOptions server_options);

  /// Has `action` answer the requests by `method` for the paths of `pattern`. A path that has
  /// routes is theirs: another method is 405, with those that it has, and OPTIONS is answered with
  /// them; nothing that is mounted is asked. HEAD is answered as GET, without the body. Before
  /// Begin().
  /// @param method GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS
  /// @param pattern such as "/users/{id:int}", see http/route_pattern.h; or '~' and a regular
  ///     expression, see http/router.h
  /// @param action a function of (const ServerRequest&, ServerResponse&), or, to answer later, of
  ///     (const ServerRequest&, Responder). Called when the request's body is complete, on the
  ///     loops' threads, all at once.
  /// @param options limits of this route, such as {1 << 20} for bodies of at most 1 MiB
  /// @return this
  /// @throws std::invalid_argument when the pattern is none, or when the same paths have a route
  ///     for this method already; the text names them
  auto Route(Method method, std::string pattern, RouteAction action,
             const RouteOptions& options = {}) -> HttpServer&;

  /// Route() for GET, and HEAD.
  auto Get(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kGet, std::move(pattern), std::move(action), options);
  }

  /// Route() for POST.
  auto Post(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kPost, std::move(pattern), std::move(action), options);
  }

  /// Route() for PUT.
  auto Put(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kPut, std::move(pattern), std::move(action), options);
  }

  /// Route() for PATCH.
  auto Patch(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kPatch, std::move(pattern), std::move(action), options);
  }

  /// Route() for DELETE.
  auto Delete(std::string pattern, RouteAction action, const RouteOptions& options = {})
      -> HttpServer& {
    return Route(Method::kDelete, std::move(pattern), std::move(action), options);
  }

  /// Has `middleware` look at each request whose path has routes, inside of what was given before.
  /// Before Begin().
  /// @return this
  auto Use(Middleware middleware) -> HttpServer&;

  /// Makes a group of routes under `prefix`, with middleware around them alone; see
  /// web/route_group.h. Before Begin().
  /// @param prefix a path such as "/api", without a slash at its end, or ""
  /// @throws std::invalid_argument for another one
  [[nodiscard]] auto Group(std::string prefix) -> RouteGroup {
    return {routes_, Routes::kServer, std::move(prefix)};
  }

  /// Has the handlers that `factory` makes, one for each loop, answer the paths under `prefix`. The
  /// longest prefix wins; a path without a handler is 404. Before Begin().
  /// @param prefix "/", or a path such as "/cgi-bin", without a slash at its end; throws
  ///     std::invalid_argument for another
  /// @param factory called in Begin(), once for each loop, on the thread that called Begin()
  /// @return this
  auto Mount(std::string prefix, HandlerFactory factory) -> HttpServer&;

  /// Mounts the files of a directory, with a cache of 64 MiB that the loops divide among them.
  /// Begin() throws std::system_error, which names the directory, if it can't be opened.
  /// @param prefix as Mount()
  /// @param directory path
  /// @return this
  auto Files(std::string prefix, std::string directory) -> HttpServer&;

  /// The same with options of your own.
  /// @param prefix as Mount()
  /// @param options the directory is `root`. `cache.max_bytes` is for the whole server: each loop
  ///     gets its share. 64 MiB if it is not set; 0: no cache. Include files/static_files.h for
  ///     StaticFilesOptions.
  /// @return this
  auto Files(std::string prefix, const StaticFilesOptions& options) -> HttpServer&;

  /// Has `formatter` write the body of each error response to a request under `prefix`, whether a
  /// route, a mount or the parser refuses the request. The longest prefix wins; without one, the
  /// body is a page in HTML. A malformed path is taken as the client wrote it; a request without a
  /// path gets the format of "/".
  /// Before Begin().
  /// @param prefix as Mount()
  /// @param formatter such as ProblemJson; not empty, else throws std::invalid_argument
  /// @return this
  auto ErrorFormat(std::string prefix, ErrorFormatter formatter) -> HttpServer&;

  /// Has the observers that `factory` makes, one for each loop, see each request. Before Begin().
  /// @param factory called in Begin(), as a handler's
  /// @return this
  auto Observe(ObserverFactory factory) -> HttpServer&;

  /// Listens on one more address. Throws like the constructor.
  auto AlsoListen(const NetAddress& local) -> HttpServer&;

  /// Serves one more listener, such as a UnixListener's.
  auto AlsoListen(Socket listener) -> HttpServer&;

  /// Sets other limits and timeouts, for connected clients as well. Before Begin(), or on a loop's
  /// thread; the other loops have them soon. Throws as the constructor does.
  void SetOptions(const HttpOptions& options);

  /// Sets another limit than ServerOptions::max_connections. A client above it gets a 503.
  void SetMaxConnections(std::size_t count) noexcept { server_.SetMaxConnections(count); }

  /// Refuses these addresses from now on, TurtleServer::Block().
  void Block(CidrSet addresses) { server_.Block(std::move(addresses)); }

  /// Serves until Stop() or Drain(). Throws what a factory throws, and std::system_error if the
  /// threads can't be started. Runs once.
  void Begin();

  /// Ends Begin(): no client is accepted any more, requests under way are answered, within
  /// ServerOptions::stop_timeout. Before Begin(), Begin() returns at once. Async-signal-safe.
  void Stop() noexcept { server_.Stop(); }

  /// Ends Begin() without losing a request, TurtleServer::Drain(). Meanwhile each response says
  /// `Connection: close`, and its connection goes once the client has read it. Any thread.
  /// @param queue who serves the clients that wait in the kernel
  void Drain(ListenQueue queue = ListenQueue::kOurs) { server_.Drain(queue); }

  /// Should new clients be sent here? False before all loops run and from Drain() or Stop() on. Any
  /// thread.
  [[nodiscard]] auto IsReady() const noexcept -> bool { return server_.IsReady(); }

  /// Is it about to end? True from Drain() or Stop() on. Any thread.
  [[nodiscard]] auto IsLeaving() const noexcept -> bool { return server_.IsLeaving(); }

  /// Does another process serve new clients, TurtleServer::IsHandedOver()? Any thread.
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

  /// The loops, of which the first accepts; for what must run on them besides.
  [[nodiscard]] auto Loopers() const -> std::vector<Looper*> { return server_.Loopers(); }

  /// Clients who were not let in. Any thread.
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

  HttpOptions options_;  // of the loops, when they are made
  Routes routes_;
  ErrorFormats error_formats_;
  std::vector<ObserverFactory> observers_;
  TurtleServer server_;
  // One for each loop while Begin() runs; handlers may use their loop, so they go before it.
  std::vector<std::unique_ptr<LoopParts>> loops_;
  std::optional<SignalWatch> stop_signals_;  // of the first loop
};

}  // namespace TURTLE_SERVER
