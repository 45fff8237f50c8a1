// Sends back what it receives, for programs that test how a server reads HTTP:
//
//    GET /      a short text; any other method but TRACE: the body of the request
//    /echo      the fields of the request as they came, a line each: "Name: Value"
//    /cookie    its cookies, a line each: "name=value"
//
// TRACE is refused with 405: its response would have to be the whole request, exactly as it came
// (RFC 9110, section 9.3.8).
//
//   http_echo [--port N] [--threads N]
//
// The default port is 20080, 0 is any free one; the default is one thread for each core.
#include <charconv>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "base/ascii.h"
#include "http/response.h"
#include "web/exchange.h"
#include "web/http_server.h"

namespace {

using turtle::Exchange;
using turtle::HeaderField;
using turtle::Headers;
using turtle::Method;
using turtle::TextResponse;

constexpr std::string_view kAllowed = "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS";

struct Options {
  int port = 20080;
  std::size_t threads = 0;
};

template <typename Number>
void ParseNumber(const std::string& option, std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument(option + " \"" + std::string(text) + "\": not a number");
  }
}

auto ParseOptions(int argc, char** argv) -> Options {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc || (option != "--port" && option != "--threads")) {
      throw std::invalid_argument("usage: http_echo [--port N] [--threads N]");
    }
    if (option == "--port") {
      ParseNumber(option, argv[i + 1], options.port);
    } else {
      ParseNumber(option, argv[i + 1], options.threads);
    }
  }
  return options;
}

auto FieldLines(const Headers& fields) -> std::string {
  std::string text;
  for (const HeaderField& field : fields) {
    text.append(field.name).append(": ").append(field.value).append("\n");
  }
  return text;
}

// RFC 6265, section 4.2.1: pairs with a semicolon between them. Anything that is not a pair is not
// a cookie.
auto CookieLines(const Headers& fields) -> std::string {
  std::string text;
  fields.ForEach("Cookie", [&](std::string_view rest) {
    while (!rest.empty()) {
      const std::size_t end = rest.find(';');
      const std::string_view pair = turtle::ascii::TrimOws(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      if (pair.find('=') != std::string_view::npos) {
        text.append(pair).append("\n");
      }
    }
  });
  return text;
}

class Echo : public turtle::RequestHandler {
 public:
  void Handle(Exchange& exchange) override {
    const turtle::Request& request = exchange.GetRequest();
    const std::string_view path = request.uri.Path();
    if (request.method == Method::kTrace) {
      exchange.Reply(turtle::ErrorResponse(405).Set("Allow", kAllowed));
    } else if (path == "/echo") {
      exchange.Reply(TextResponse(200, FieldLines(request.headers)));
    } else if (path == "/cookie") {
      exchange.Reply(TextResponse(200, CookieLines(request.headers)));
    } else if (path != "/") {
      exchange.Reply(turtle::ErrorResponse(404));
    } else if (request.method == Method::kGet || request.method == Method::kHead) {
      exchange.Reply(TextResponse(200, "Send me something.\n"));
    } else {
      SendBodyBack(exchange);
    }
  }

 private:
  // The body is kept whole, so only the server's limit for bodies keeps it small.
  static void SendBodyBack(Exchange& exchange) {
    exchange.OnBody([&exchange, body = std::string()](std::string_view piece, bool last) mutable {
      body += piece;
      if (last) {
        exchange.Reply(TextResponse(200, body));
      }
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = ParseOptions(argc, argv);
    turtle::ServerOptions server_options;
    server_options.threads = options.threads;
    turtle::HttpServer server(turtle::NetAddress("127.0.0.1", options.port), {}, server_options);
    server.Mount("/", [](turtle::Looper&) { return std::make_unique<Echo>(); });
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.Begin();
  } catch (const std::exception& error) {
    std::cerr << "http_echo: " << error.what() << '\n';
    return 1;
  }
}
