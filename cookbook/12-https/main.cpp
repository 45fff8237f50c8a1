// A site over HTTPS: https PORT HTTPS_PORT CHAIN KEY [FOLDER]
//
//   GET /…        the files of FOLDER; a client without TLS is redirected
//   GET /secure   whether the client has TLS: routes are not redirected
//
// CHAIN has the certificate and those that signed it, KEY its private key. SIGHUP makes it read
// both again.
#include <sys/socket.h>

#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <turtle/base/argument.h>
#include <turtle/core/channel_refusals.h>
#include <turtle/core/reuse_port.h>
#include <turtle/core/signal_watch.h>
#include <turtle/files/static_files.h>
#include <turtle/log/log.h>
#include <turtle/tls/tls.h>
#include <turtle/web/exchange.h>
#include <turtle/web/http_server.h>
#include <turtle/web/https_redirect.h>

using namespace turtle;

namespace {

// False if the system can't say: a client then gets TLS, and nothing goes out in the clear.
auto IsAtPort(const Connection& connection, int port) -> bool {
  NetAddress local;
  return ::getsockname(connection.GetFd(), local.Data(), local.Length()) == 0 &&
         local.Port() == port;
}

// Makes browsers use https by themselves for five minutes. They ignore the field without TLS,
// where anybody on the way could have added it (RFC 6797, section 8.1).
auto RememberTls() -> Middleware {
  Middleware remember;
  remember.after = [](const ServerRequest& req, ServerResponse& res) {
    if (req.GetExchange().IsSecure()) {
      res.Set("Strict-Transport-Security", "max-age=300");
    }
  };
  return remember;
}

// If the new certificate can't be used, the old one stays.
void Reload(const TlsOptions& certificates, Tls& tls) {
  try {
    tls.Replace(certificates);
    Log(LogLevel::kInfo, "certificate read again");
  } catch (const std::exception& error) {
    Log(LogLevel::kError, error.what());
  }
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc < 5) {
    std::cerr << "usage: https PORT HTTPS_PORT CHAIN KEY [FOLDER]\n";
    return 2;
  }
  std::vector<Socket> plain = OpenListeners(NetAddress("127.0.0.1", ReadPort(argv[1])), 1);
  const NetAddress plain_address = plain.front().LocalAddress();
  const NetAddress tls_address("127.0.0.1", ReadPort(argv[2]));

  TlsOptions certificates;
  certificates.certificates = {{argv[3], argv[4], ""}};
  ChannelRefusals refusals(LogLevel::kInfo, "TLS handshake");  // at most a line a second per loop
  Tls tls(certificates, [&](const Connection& connection, const char* reason) {
    refusals.Report(connection, reason);
  });

  ServerOptions options;
  options.channel = [&plain_address, encrypted = tls.Channels()](Connection& connection) {
    return IsAtPort(connection, plain_address.Port()) ? nullptr : encrypted(connection);
  };
  HttpServer server(tls_address, {}, options);
  server.AlsoListen(std::move(plain));

  StaticFilesOptions files;
  files.root = argc > 5 ? argv[5] : ".";
  const auto https_port = static_cast<std::uint16_t>(server.LocalAddress().Port());
  RouteGroup site = server.Group("");
  site.Use(RememberTls());
  site.Mount("/",
             HttpsOnly([&](Looper& loop) { return std::make_unique<StaticFiles>(loop, files); },
                       https_port));
  site.Get("/secure", [](const ServerRequest& req, ServerResponse& res) {
    res.Text(req.GetExchange().IsSecure() ? "yes\n" : "no\n");
  });

  const SignalWatch reload(*server.Loopers().front(), {SIGHUP},
                           [&](int) { Reload(certificates, tls); });
  server.StopOnSignals();
  std::cout << "listening on http://" << plain_address.ToString() << std::endl
            << "with TLS at https://" << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  const TlsStats stats = tls.Stats();
  std::cout << "handshakes: " << stats.full << " full, " << stats.resumed << " resumed, "
            << stats.failed << " failed" << std::endl;
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "https: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "https: " << error.what() << '\n';
  return 1;
}
