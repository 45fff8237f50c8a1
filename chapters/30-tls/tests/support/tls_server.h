// A web server with TLS that runs while a test talks to it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

#include "core/proxy_channel.h"
#include "core/server_options.h"
#include "support/certificate_files.h"
#include "support/running_server.h"
#include "tls/tls.h"
#include "web/http_server.h"

namespace TURTLE_SERVER::test {

/// Returns settings with these certificates.
template <typename... Certificates>
auto TlsOptionsOf(const Certificates&... certificates) -> TlsOptions {
  TlsOptions options;
  options.certificates = {certificates.Files()...};
  return options;
}

/// How clients come to a TlsServer.
enum class Way { kDirect, kProxy };

/// An HttpServer with TLS on any free port, from construction to destruction. Clients must be
/// destroyed before it.
class TlsServer {
 public:
  /// The part that a test adds to the server.
  using Setup = std::function<void(HttpServer&)>;

  /// @param options of TLS
  /// @param answer the handler of all requests
  /// @param threads the number of loops
  /// @param http the limits of requests
  explicit TlsServer(const TlsOptions& options, Answer answer, std::size_t threads = 1,
                     HttpOptions http = {})
      : TlsServer(
            options, [&](HttpServer& server) { server.Mount("/", Answering(std::move(answer))); },
            WithThreads(threads), Way::kDirect, std::move(http)) {}

  /// @param options of TLS
  /// @param setup mounts the handlers
  /// @param server the settings of the server
  /// @param way kProxy: each client begins with a PROXY header
  /// @param http the limits of requests
  /// @param on_refused of Tls
  explicit TlsServer(const TlsOptions& options, const Setup& setup,
                     ServerOptions server = WithThreads(1), Way way = Way::kDirect,
                     HttpOptions http = {}, Tls::OnRefused on_refused = {})
      : tls_(options, std::move(on_refused)),
        server_(NetAddress("127.0.0.1", 0), std::move(http), With(std::move(server), tls_, way)) {
    setup(server_);
    thread_ = std::thread([this] {
      server_.Begin();
      ended_.set_value();
    });
  }
  TlsServer(const TlsServer&) = delete;
  auto operator=(const TlsServer&) -> TlsServer& = delete;

  ~TlsServer() {
    server_.Stop();
    Join();
  }

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return server_.LocalAddress().Port(); }

  /// Returns its TLS.
  [[nodiscard]] auto GetTls() -> Tls& { return tls_; }

  /// Returns the server itself.
  [[nodiscard]] auto Get() -> HttpServer& { return server_; }

  /// Returns settings with this number of loops.
  static auto WithThreads(std::size_t threads) -> ServerOptions {
    ServerOptions options;
    options.threads = threads;
    return options;
  }

  /// Waits until Begin() has returned.
  void Join() {
    if (thread_.joinable()) {
      if (ended_.get_future().wait_for(kPatience) != std::future_status::ready) {
        std::cerr << "the server doesn't end" << std::endl;
        std::abort();  // there is no way to go on without the thread
      }
      thread_.join();
    }
  }

 private:
  static auto With(ServerOptions options, Tls& tls, Way way) -> ServerOptions {
    options.channel = tls.Channels();
    if (way == Way::kProxy) {
      options.channel = [inner = std::move(options.channel)](Connection& connection) {
        return std::make_unique<ProxyChannel>(inner(connection));
      };
    }
    return options;
  }

  Tls tls_;
  HttpServer server_;
  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace TURTLE_SERVER::test
