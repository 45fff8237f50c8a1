#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include <turtle/base/argument.h>
#include <turtle/web/http_server.h>

using namespace turtle;

auto main(int argc, char** argv) -> int try {
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 8080));
  server.Get("/hello/{name}", [](const ServerRequest& req, ServerResponse& res) {
    res.Text("hello, " + std::string(req.Parameter("name")) + "\n");
  });
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "hello: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "hello: " << error.what() << '\n';
  return 1;
}
