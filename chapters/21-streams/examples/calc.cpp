// Calculates Fibonacci numbers, the slow way, on one loop.
//
//   calc PORT
//
//    GET /fib/{n}    the number; its start is reported on stdout
//    GET /hello      something quick
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "base/argument.h"
#include "http/http_error.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

auto Fibonacci(std::int64_t n) -> std::int64_t {
  return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2);
}

void Calculate(const ServerRequest& req, ServerResponse& res) {
  const std::int64_t n = req.Integer("n");
  if (n < 0 || n > 45) {
    throw HttpError(400, "n must be from 0 to 45");
  }
  std::cout << "fib(" << n << ") begins" << std::endl;
  res.Text(std::to_string(Fibonacci(n)) + "\n");
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2) {
    std::cerr << "usage: calc PORT\n";
    return 2;
  }
  ServerOptions one_loop;
  one_loop.threads = 1;
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])), {}, one_loop);
  server.Get("/fib/{n:int}", Calculate);
  server.Get("/hello", [](const ServerRequest&, ServerResponse& res) { res.Text("hello\n"); });
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "calc: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "calc: " << error.what() << '\n';
  return 1;
}
