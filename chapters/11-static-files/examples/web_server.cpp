// Serves the files of a directory as a web site.
//
//   web_server [PORT [ROOT]]      20080 and the current directory unless given; port 0: any free
//                                 one.
#include <charconv>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "files/static_files.h"
#include "web/http_server.h"

namespace {

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
    turtle::StaticFilesOptions files;
    files.root = argc > 2 ? argv[2] : ".";
    turtle::HttpServer server(
        turtle::NetAddress("127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
    server.Mount("/",
                 [&](turtle::Looper&) { return std::make_unique<turtle::StaticFiles>(files); });
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.Begin();
  } catch (const std::exception& error) {
    std::cerr << "web_server: " << error.what() << '\n';
    return 1;
  }
}
