// Users by name: the routes define the paths and methods.
//
//   users PORT
//
//   GET /users           the names, one per line
//   GET /users/{name}    a greeting
#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/argument.h"
#include "http/http_error.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

constexpr std::array<std::string_view, 3> kUsers = {"ada", "dennis", "grace"};

void Greet(const ServerRequest& req, ServerResponse& res) {
  const std::string_view name = req.Parameter("name");
  if (std::find(kUsers.begin(), kUsers.end(), name) == kUsers.end()) {
    throw HttpError(404, "no such user");
  }
  res.Text("hello, " + std::string(name) + "\n");
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2) {
    std::cerr << "usage: users PORT\n";
    return 2;
  }
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])));
  server
      .Get("/users",
           [](const ServerRequest&, ServerResponse& res) { res.Text("ada\ndennis\ngrace\n"); })
      .Get("/users/{name}", Greet);
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "users: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "users: " << error.what() << '\n';
  return 1;
}
