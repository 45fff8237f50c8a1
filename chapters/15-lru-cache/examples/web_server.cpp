// Serves the files of a directory and the programs in its cgi-bin as a web site.
//
//   web_server [PORT [ROOT [PROGRAMS]]]
//
// PORT is 20080 by default; port 0: any free one. ROOT is the current directory by default, and
// PROGRAMS is ROOT/cgi-bin, if that exists. Its files are run, and never shown. Each loop keeps
// files in memory, within its share of 64 MiB.
#include <charconv>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "cgi/cgi.h"
#include "files/static_files.h"
#include "web/http_server.h"

namespace {

constexpr std::size_t kCacheBytes = std::size_t{64} * 1024 * 1024;

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
    if (argc > 4) {
      throw std::invalid_argument("usage: web_server [PORT [ROOT [PROGRAMS]]]");
    }
    turtle::HttpServer server(
        turtle::NetAddress("127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));

    turtle::StaticFilesOptions files;
    files.root = argc > 2 ? argv[2] : ".";
    files.cache.max_bytes = kCacheBytes / server.Loopers().size();
    server.Mount("/", [&](turtle::Looper& looper) {
      return std::make_unique<turtle::StaticFiles>(looper, files);
    });

    turtle::CgiOptions programs;
    programs.directory = argc > 3 ? argv[3] : files.root + "/cgi-bin";
    programs.document_root = files.root;
    if (argc > 3 || std::filesystem::is_directory(programs.directory)) {
      server.Mount("/cgi-bin", [&](turtle::Looper& looper) {
        return std::make_unique<turtle::Cgi>(looper, programs);
      });
    }

    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.Begin();
  } catch (const std::exception& error) {
    std::cerr << "web_server: " << error.what() << '\n';
    return 1;
  }
}
