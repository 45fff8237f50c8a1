// A web site of two pages, which are compiled in.
//
//   web_server [PORT [ROOT]]      20080 unless given; port 0: any free one. ROOT is for chapter 11,
//                                 where this program serves files.
#include <array>
#include <charconv>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "web/exchange.h"
#include "web/http_server.h"

namespace {

using turtle::Exchange;
using turtle::Method;
using turtle::Response;

struct Page {
  std::string_view path;
  std::string_view type;
  std::string_view text;
};

constexpr std::string_view kHome = "<h1>Turtle</h1>";
constexpr std::array<Page, 3> kPages{{
    {"/", "text/html; charset=utf-8", kHome},
    {"/index.html", "text/html; charset=utf-8", kHome},
    {"/robots.txt", "text/plain; charset=utf-8", "User-agent: *\nDisallow:\n"},
}};

// Responds from memory.
class Pages : public turtle::RequestHandler {
 public:
  void Handle(Exchange& exchange) override {
    const turtle::Request& request = exchange.GetRequest();
    if (request.method != Method::kGet && request.method != Method::kHead) {
      exchange.Reply(turtle::ErrorResponse(405).Set("Allow", "GET, HEAD"));
      return;
    }
    for (const Page& page : kPages) {
      if (page.path == request.uri.Path()) {
        exchange.Reply(Response(200).Set("Content-Type", page.type).Body(std::string(page.text)));
        return;
      }
    }
    exchange.Reply(turtle::ErrorResponse(404));
  }
};

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: web_server [PORT [ROOT]]");
    }
    turtle::HttpServer server(
        turtle::NetAddress("127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
    server.Mount("/", [](turtle::Looper&) { return std::make_unique<Pages>(); });
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.Begin();
  } catch (const std::exception& error) {
    std::cerr << "web_server: " << error.what() << '\n';
    return 1;
  }
}
