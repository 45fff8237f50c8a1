// Serves the files of a directory over TLS. SIGHUP reads the certificate and its key again.
//
//   https_server PORT CHAIN KEY [ROOT]
//
// CHAIN is a file with the certificate and those that signed it, KEY one with its private key. Port
// 0 is any free one. ROOT is the current directory by default.
#include <charconv>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "core/signal_watch.h"
#include "files/static_files.h"
#include "tls/tls.h"
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

void Reload(turtle::Tls& tls, const turtle::TlsOptions& options) {
  try {
    tls.Replace(options);
    std::cout << "certificate read again" << std::endl;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "; the certificate stays as it was" << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 4 || argc > 5) {
      throw std::invalid_argument("usage: https_server PORT CHAIN KEY [ROOT]");
    }
    turtle::TlsOptions options;
    options.certificates = {{argv[2], argv[3], ""}};
    turtle::Tls tls(options);

    turtle::ServerOptions server_options;
    server_options.channel = tls.Channels();
    turtle::HttpServer server(turtle::NetAddress("127.0.0.1", ParsePort(argv[1])), {},
                              server_options);
    turtle::StaticFilesOptions files;
    files.root = argc > 4 ? argv[4] : ".";
    server.Mount("/", [&](turtle::Looper& looper) {
      return std::make_unique<turtle::StaticFiles>(looper, files);
    });

    turtle::Looper& first = *server.Loopers().front();
    const turtle::SignalWatch reload(first, {SIGHUP}, [&](int) { Reload(tls, options); });
    const turtle::SignalWatch stop(first, {SIGINT, SIGTERM}, [&](int) { server.Stop(); });
    std::cout << "https://localhost:" << server.LocalAddress().Port() << "/" << std::endl;
    server.Begin();

    const turtle::TlsStats stats = tls.Stats();
    std::cout << stats.full << " full handshakes, " << stats.resumed << " resumed, " << stats.failed
              << " failed" << std::endl;
  } catch (const std::exception& error) {
    std::cerr << "https_server: " << error.what() << '\n';
    return 1;
  }
}
