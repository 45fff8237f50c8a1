// Takes uploads and throws them away: it can only respond, not read. Chapter 13 teaches it to.
//
//   upload_server [PORT]      20080 unless given; port 0: any free one
#include <charconv>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "http/response.h"
#include "web/exchange.h"
#include "web/http_server.h"

namespace {

using turtle::Exchange;
using turtle::Method;

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

class Upload : public turtle::RequestHandler {
 public:
  void Handle(Exchange& exchange) override {
    const Method method = exchange.GetRequest().method;
    if (method != Method::kPost && method != Method::kPut) {
      exchange.Reply(turtle::ErrorResponse(405).Set("Allow", "POST, PUT"));
      return;
    }
    exchange.Reply(turtle::TextResponse(200, "something came\n"));
  }
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 2) {
      throw std::invalid_argument("usage: upload_server [PORT]");
    }
    turtle::HttpServer server(
        turtle::NetAddress("127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
    server.Mount("/upload", [](turtle::Looper&) { return std::make_unique<Upload>(); });
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.Begin();
  } catch (const std::exception& error) {
    std::cerr << "upload_server: " << error.what() << '\n';
    return 1;
  }
}
