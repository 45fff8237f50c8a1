// Serves the files of a directory, compressed, and two pages that show what compression reveals.
//
//   compressed_server PORT [ROOT]
//
// Port 0 is any free one. ROOT is the current directory by default.
//
//    GET  /open?search=WORDS   a page with a secret and the words: its length tells too much
//    GET  /safe?search=WORDS   the same page, never compressed
//    POST /length              the length of a text, which may be sent compressed
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "compress/compression.h"
#include "web/exchange.h"
#include "web/http_server.h"

namespace {

auto ParsePort(std::string_view text) -> std::uint16_t {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not 0 to 65535");
  }
  return port;
}

// A page has a secret, which a form of the page sends back, and what its visitor searches for.
void SendPage(const turtle::ServerRequest& req, turtle::ServerResponse& res) {
  std::string page = "secret=k7m2x9q4\nno result for: ";
  page.append(req.Query("search").value_or("")).append("\n");
  for (int i = 0; i < 100; ++i) {
    page += "message " + std::to_string(i) + " has been read\n";
  }
  res.Text(page);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2 || argc > 3) {
      throw std::invalid_argument("usage: compressed_server PORT [ROOT]");
    }
    turtle::HttpOptions options;
    options.compression = std::make_shared<const turtle::Compression>();

    turtle::HttpServer server(turtle::NetAddress("127.0.0.1", ParsePort(argv[1])), options);
    server.Files("/", argc > 2 ? argv[2] : ".");
    server.Get("/open", SendPage);
    server.Get("/safe", [](const turtle::ServerRequest& req, turtle::ServerResponse& res) {
      req.GetExchange().KeepPlain();
      SendPage(req, res);
    });
    server.Post("/length", [](const turtle::ServerRequest& req, turtle::ServerResponse& res) {
      res.Text(std::to_string(req.Body().size()) + " bytes\n");
    });
    server.StopOnSignals();
    std::cout << "http://localhost:" << server.LocalAddress().Port() << "/" << std::endl;
    server.Begin();
  } catch (const std::exception& error) {
    std::cerr << "compressed_server: " << error.what() << '\n';
    return 1;
  }
}
