// Responses that are worth caching, with and without a cache.
//
//   kept_replies PORT on|off
//
//   GET /long    5,000 bytes, made as cheaply as a handler can
//   GET /slow    a line, for which the handler's thread waits 20 ms, as it would for a database
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "base/argument.h"
#include "core/signal_watch.h"
#include "http/response.h"
#include "response_cache/response_cache.h"
#include "web/exchange.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

// Responds with a text that may be cached.
void ReplyText(Exchange& exchange, const std::string& text) {
  const Method method = exchange.GetRequest().method;
  if (method == Method::kGet || method == Method::kHead) {
    exchange.Reply(TextResponse(200, text));
  } else {
    exchange.Reply(ErrorResponse(405).Set("Allow", "GET, HEAD"));
  }
}

class Long : public RequestHandler {
 public:
  void Handle(Exchange& exchange) override { ReplyText(exchange, std::string(5000, 'x')); }
};

class Slow : public RequestHandler {
 public:
  void Handle(Exchange& exchange) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ReplyText(exchange, "slow and steady\n");
  }
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  const std::string_view kept = argc == 3 ? argv[2] : "";
  if (kept != "on" && kept != "off") {
    std::cerr << "usage: kept_replies PORT on|off\n";
    return 2;
  }
  ServerOptions threads;
  threads.threads = 4;
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])), HttpOptions(), threads);
  const auto mount = [&](const char* path, const HandlerFactory& factory) {
    server.Mount(path, kept == "on" ? Cached(ResponseCacheOptions(), factory) : factory);
  };
  mount("/long", [](Looper&) { return std::make_unique<Long>(); });
  mount("/slow", [](Looper&) { return std::make_unique<Slow>(); });
  const SignalWatch signals(*server.Loopers().front(), {SIGINT, SIGTERM},
                            [&server](int) { server.Stop(); });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "kept_replies: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "kept_replies: " << error.what() << '\n';
  return 1;
}
