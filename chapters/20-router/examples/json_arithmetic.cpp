// POST /json takes {"value": n} and calculates: json_arithmetic [PORT]
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/argument.h"
#include "web/http_server.h"

using namespace turtle;
using nlohmann::json;

auto Number(double x) -> json {  // a whole number is written as an integer
  return std::trunc(x) == x && std::abs(x) < 1e15 ? json(std::llround(x)) : json(x);
}

auto main(int argc, char** argv) -> int try {
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 20080));
  server.Post("/json", [](const ServerRequest& req, ServerResponse& res) {
    const double n = req.Json().value("value", 0.0);
    json object = {{"item1", Number(n)}, {"item2", true}, {"item3", Number(n - 3.14)}};
    object["anotherList"] = {Number(n - 1), Number(n - 2.5), "somestr", false, Number(n)};
    json reply = {{"plus", Number(n + 20)}, {"minus", Number(n - 69)}, {"object", object}};
    reply["plus_float"] = Number(n + 3.14);
    reply["list"] = {Number(n), Number(2 * n), Number(3.14 * n)};
    res.Json(reply);
  });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "json_arithmetic: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "json_arithmetic: " << error.what() << '\n';
  return 1;
}
