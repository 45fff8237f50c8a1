// Reports who sent which query: POST /query at once, POST /later from another thread.
// query_daemon [PORT]
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/argument.h"
#include "task/thread_pool.h"
#include "web/http_server.h"

using namespace turtle;

auto Describe(const ServerRequest& req) -> nlohmann::json {
  return {{"from", req.Source().ToString()}, {"uri", req.Target()}, {"body", req.Body()}};
}

auto main(int argc, char** argv) -> int try {
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 20080));
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  ThreadPool pool(4);
  pool.Start();
  server.Post("/query",
              [](const ServerRequest& req, ServerResponse& res) { res.Json(Describe(req)); });
  server.Post("/later", [&pool](const ServerRequest& req, const Responder& responder) {
    const bool left = pool.Submit(
        [answer = Describe(req), responder] { responder.Reply(ServerResponse().Json(answer)); });
    static_cast<void>(left);  // if the pool has ended, the last Responder is destroyed: 500
  });
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "query_daemon: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "query_daemon: " << error.what() << '\n';
  return 1;
}
