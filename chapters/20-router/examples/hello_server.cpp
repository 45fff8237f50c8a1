// GET /hello, in as few lines as it takes: hello_server [PORT]
#include <exception>
#include <iostream>
#include <stdexcept>

#include "base/argument.h"
#include "web/http_server.h"

using namespace turtle;

auto main(int argc, char** argv) -> int try {
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 20080));
  server.StopOnSignals();
  server.Get("/hello", [](const ServerRequest&, ServerResponse& res) { res.Text("hello\n"); });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "hello_server: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "hello_server: " << error.what() << '\n';
  return 1;
}
