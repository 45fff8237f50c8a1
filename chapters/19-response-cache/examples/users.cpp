// Users by name: a handler that parses its paths itself.
//
//   users PORT
//
//   GET /users         the names, one per line
//   GET /users/NAME    a greeting
#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/argument.h"
#include "core/signal_watch.h"
#include "http/response.h"
#include "web/exchange.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

constexpr std::array<std::string_view, 3> kUsers = {"ada", "dennis", "grace"};

class Users : public RequestHandler {
 public:
  void Handle(Exchange& exchange) override {
    const std::string_view path = exchange.SubPath();
    const std::string_view name = path.substr(std::min<std::size_t>(path.size(), 1));
    if (path.empty()) {
      exchange.Reply(TextResponse(200, "ada\ndennis\ngrace\n"));
    } else if (std::find(kUsers.begin(), kUsers.end(), name) != kUsers.end()) {
      exchange.Reply(TextResponse(200, "hello, " + std::string(name) + "\n"));
    } else {
      exchange.Reply(TextResponse(404, "no such user\n"));
    }
  }
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2) {
    std::cerr << "usage: users PORT\n";
    return 2;
  }
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])));
  server.Mount("/users", [](Looper&) { return std::make_unique<Users>(); });
  const SignalWatch signals(*server.Loopers().front(), {SIGINT, SIGTERM},
                            [&server](int) { server.Stop(); });
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
