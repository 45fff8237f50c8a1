// Says who asked for what: POST /query at once, POST /later from another thread.
// query_daemon [PORT]
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "task/thread_pool.h"
#include "web/http_server.h"

using namespace turtle;

auto Describe(const ServerRequest& req) -> nlohmann::json {
  return {{"from", req.Source().ToString()}, {"uri", req.Target()}, {"body", req.Body()}};
}

auto main(int argc, char** argv) -> int {
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? std::atoi(argv[1]) : 20080));
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  ThreadPool pool(4);
  pool.Start();
  server.Post("/query",
              [](const ServerRequest& req, ServerResponse& res) { res.Json(Describe(req)); });
  server.Post("/later", [&pool](const ServerRequest& req, const Responder& responder) {
    const bool left = pool.Submit(
        [answer = Describe(req), responder] { responder.Reply(ServerResponse().Json(answer)); });
    static_cast<void>(left);  // if the pool has ended, the last Responder goes: 500
  });
  server.Begin();
}
