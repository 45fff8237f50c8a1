// Runs long calculations away from its single loop.
//
//   calc PORT [THREADS]
//
//    GET /fib/{n}         a Fibonacci number, the slow way; its start is reported on stdout
//    GET /calc?value=x    ln(1 + x) from five million terms of its series; -1 < x <= 1
//    GET /hello, /ping    something quick
//
// THREADS calculate, by default one per core. With 0 the loop does, and all other clients wait.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/argument.h"
#include "http/http_error.h"
#include "web/http_server.h"
#include "web/offload.h"

using namespace turtle;

namespace {

auto Fibonacci(std::int64_t n) -> std::int64_t {
  return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2);
}

void CalculateFibonacci(const ServerRequest& req, ServerResponse& res) {
  const std::int64_t n = req.Integer("n");
  if (n < 0 || n > 45) {
    throw HttpError(400, "n must be from 0 to 45");
  }
  std::cout << "fib(" + std::to_string(n) + ") begins\n" << std::flush;
  res.Text(std::to_string(Fibonacci(n)) + "\n");
}

// x - x²/2 + x³/3 - x⁴/4 …
auto LogarithmOfOnePlus(double x) -> double {
  constexpr int kTerms = 5'000'000;
  double sum = 0;
  double power = -1;
  for (int k = 1; k <= kTerms; ++k) {
    power *= -x;
    if (std::abs(power) < std::numeric_limits<double>::min()) {
      power = 0;  // smaller numbers don't matter, and are very slow
    }
    sum += power / k;
  }
  return sum;
}

auto NumberIn(std::string_view text) -> double {
  const std::string digits(text);
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  const bool plain = digits.find_first_not_of("0123456789+-.eE") == std::string::npos;
  if (digits.empty() || !plain || end != digits.c_str() + digits.size()) {
    throw HttpError(400, "value must be a number, such as 0.5");
  }
  return number;
}

void CalculateLogarithm(const ServerRequest& req, ServerResponse& res) {
  const double x = NumberIn(req.Query("value").value_or(""));
  if (!(x > -1 && x <= 1)) {
    throw HttpError(400, "value must be above -1, and 1 at most: the series ends nowhere else");
  }
  std::array<char, 32> text;
  const int size = std::snprintf(text.data(), text.size(), "%.6f", LogarithmOfOnePlus(x));
  res.Text({text.data(), static_cast<std::size_t>(size)});
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: calc PORT [THREADS]\n";
    return 2;
  }
  TaskPoolOptions pool_options;
  if (argc == 3) {
    pool_options.threads = ReadNumber<std::size_t>("threads", argv[2], 0, 256);
  }
  TaskPool pool(pool_options);
  ServerOptions one_loop;
  one_loop.threads = 1;
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])), {}, one_loop);
  server.Get("/fib/{n:int}", Offload(pool, Priority::kLow, CalculateFibonacci));
  server.Get("/calc", Offload(pool, Priority::kNormal, CalculateLogarithm));
  server.Get("/hello", [](const ServerRequest&, ServerResponse& res) { res.Text("hello\n"); });
  server.Get("/ping", [](const ServerRequest&, ServerResponse& res) { res.Text("pong"); });
  server.StopOnSignals();
  pool.Start();
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
