#include "web/http_server.h"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <string>
#include <utility>

#include "http/response.h"
#include "web/group_handler.h"
#include "web/http_session.h"

namespace TURTLE_SERVER {

namespace {

// Checks that the longest permitted head fits into a connection, because a head is parsed in its
// input buffer: the rest of a longer one would never be read.
void Check(const HttpOptions& options) {
  if (options.parser.max_head_bytes > Connection::kInputLimit) {
    throw std::invalid_argument("max_head_bytes " + std::to_string(options.parser.max_head_bytes) +
                                ": a connection keeps at most " +
                                std::to_string(Connection::kInputLimit) + " bytes");
  }
}

}  // namespace

HttpServer::HttpServer(const NetAddress& local, HttpOptions options, ServerOptions server_options)
    : HttpServer(std::move(options), std::move(server_options)) {
  AlsoListen(local);
}

HttpServer::HttpServer(HttpOptions options, ServerOptions server_options)
    : options_(std::move(options)), server_(std::move(server_options)) {
  Check(options_);
  server_
      .OnAccept([this](Connection* connection) {
        connection->SetState(
            std::make_unique<HttpSession>(*connection, PartsOf(connection->GetLooper()).http1));
      })
      .OnHandle([](Connection* connection) { Session::Of(*connection).OnProgress(); })
      .OnTimeout([](Connection* connection) { Session::Of(*connection).OnTimeout(); })
      .OnStop([](Connection* connection) { Session::Of(*connection).OnStop(); })
      .OnFull([this](Connection* connection) { RefuseForWantOfRoom(connection); });
}

auto HttpServer::Route(Method method, std::string pattern, RouteAction action,
                       const RouteOptions& options) -> HttpServer& {
  routes_.Add(method, std::move(pattern), std::move(action), options);
  return *this;
}

auto HttpServer::Use(Middleware middleware) -> HttpServer& {
  routes_.Use(std::move(middleware));
  return *this;
}

auto HttpServer::Mount(std::string prefix, HandlerFactory factory) -> HttpServer& {
  routes_.Add({std::move(prefix), std::move(factory), std::nullopt});
  return *this;
}

auto HttpServer::ErrorFormat(std::string prefix, ErrorFormatter formatter) -> HttpServer& {
  error_formats_.Add(std::move(prefix), std::move(formatter));
  return *this;
}

auto HttpServer::Observe(ObserverFactory factory) -> HttpServer& {
  observers_.push_back(std::move(factory));
  return *this;
}

auto HttpServer::AlsoListen(const NetAddress& local) -> HttpServer& {
  server_.AlsoListen(local);
  return *this;
}

auto HttpServer::AlsoListen(Socket listener) -> HttpServer& {
  server_.AlsoListen(std::move(listener));
  return *this;
}

auto HttpServer::AlsoListen(std::vector<Socket> listeners) -> HttpServer& {
  server_.AlsoListen(std::move(listeners));
  return *this;
}

auto HttpServer::StopOnSignals() -> HttpServer& {
  stop_signals_.emplace(*server_.Loopers().front(), std::vector<int>{SIGINT, SIGTERM}, [this](int) {
    Stop();
    stop_signals_.reset();
  });
  return *this;
}

void HttpServer::SetOptions(const HttpOptions& options) {
  Check(options);
  if (loops_.empty()) {
    options_ = options;  // for loops that Begin() will make
  }
  for (const std::unique_ptr<LoopParts>& loop : loops_) {
    // A loop that takes no more tasks has no clients either.
    static_cast<void>(
        loop->http.GetLooper().Post([&http = loop->http, options] { http.SetOptions(options); }));
  }
}

void HttpServer::Begin() {
  MethodSet mounted;  // the methods for mounted handlers
  if (!routes_.Mounts().empty()) {
    mounted.Add(Method::kGet);
  }
  for (Looper* looper : server_.Loopers()) {
    loops_.push_back(std::make_unique<LoopParts>(*looper, options_));
    LoopHttp& http = loops_.back()->http;
    http.DrainWith(server_.Draining());
    for (const ObserverFactory& factory : observers_) {
      http.Observe(factory(*looper));
    }
    http.SetErrorFormats(error_formats_);
    if (!routes_.All().empty()) {
      http.SetRoutes(std::make_unique<RouteHandler>(routes_, error_formats_, mounted));
    }
    for (const Routes::Mount& mount : routes_.Mounts()) {
      http.Mount(mount.prefix, MakeMounted(routes_, mount, error_formats_, *looper));
    }
  }
  server_.Begin();
  loops_.clear();
}

// Responds before the request has come: its content does not matter.
void HttpServer::RefuseForWantOfRoom(Connection* connection) {
  Http1Shared& http1 = PartsOf(connection->GetLooper()).http1;
  const Response page = ErrorResponse(503, "There are too many clients.").Set("Retry-After", "1");
  HttpSession::SendLast(*connection, http1, http1.Http().Formatted("", page));
}

auto HttpServer::PartsOf(const Looper* looper) noexcept -> LoopParts& {
  return **std::find_if(loops_.begin(), loops_.end(),
                        [looper](const auto& loop) { return &loop->http.GetLooper() == looper; });
}

}  // namespace TURTLE_SERVER
