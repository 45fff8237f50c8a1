#include "web/http_server.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "http/response.h"
#include "web/http_session.h"

namespace TURTLE_SERVER {

namespace {

// Checks that the longest permitted head fits into a connection, because a head is parsed in its
// input buffer: the rest of a longer one would never be read.
auto Checked(const HttpOptions& options) -> const HttpOptions& {
  if (options.parser.max_head_bytes > Connection::kInputLimit) {
    throw std::invalid_argument("max_head_bytes " + std::to_string(options.parser.max_head_bytes) +
                                ": a connection keeps at most " +
                                std::to_string(Connection::kInputLimit) + " bytes");
  }
  return options;
}

}  // namespace

HttpServer::HttpServer(const NetAddress& local, HttpOptions options, ServerOptions server_options)
    : HttpServer(options, server_options) {
  AlsoListen(local);
}

HttpServer::HttpServer(HttpOptions options, ServerOptions server_options)
    : options_(Checked(options)), server_(server_options) {
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

auto HttpServer::Mount(std::string prefix, HandlerFactory factory) -> HttpServer& {
  const bool path = !prefix.empty() && prefix.front() == '/';
  if (!path || (prefix.size() > 1 && prefix.back() == '/')) {
    throw std::invalid_argument("mount \"" + prefix + "\": not a path such as / or /cgi-bin");
  }
  mounts_.emplace_back(std::move(prefix), std::move(factory));
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

void HttpServer::SetOptions(const HttpOptions& options) {
  static_cast<void>(Checked(options));
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
  for (Looper* looper : server_.Loopers()) {
    loops_.push_back(std::make_unique<LoopParts>(*looper, options_));
    LoopHttp& http = loops_.back()->http;
    for (const ObserverFactory& factory : observers_) {
      http.Observe(factory(*looper));
    }
    for (const auto& [prefix, factory] : mounts_) {
      http.Mount(prefix, factory(*looper));
    }
  }
  server_.Begin();
  loops_.clear();
}

// Responds before the request has come: its content does not matter.
void HttpServer::RefuseForWantOfRoom(Connection* connection) {
  HttpSession::SendLast(*connection, PartsOf(connection->GetLooper()).http1,
                        ErrorResponse(503, "There are too many clients.").Set("Retry-After", "1"));
}

auto HttpServer::PartsOf(const Looper* looper) noexcept -> LoopParts& {
  return **std::find_if(loops_.begin(), loops_.end(),
                        [looper](const auto& loop) { return &loop->http.GetLooper() == looper; });
}

}  // namespace TURTLE_SERVER
