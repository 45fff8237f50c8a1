// GET /hello, in as few lines as it takes: hello_server [PORT]
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "core/signal_watch.h"
#include "web/http_server.h"

using namespace turtle;

auto main(int argc, char** argv) -> int {
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? std::atoi(argv[1]) : 20080));
  const SignalWatch stop(*server.Loopers().front(), {SIGINT, SIGTERM}, [&](int) { server.Stop(); });
  server.Get("/hello", [](const ServerRequest&, ServerResponse& res) { res.Text("hello\n"); });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
}
