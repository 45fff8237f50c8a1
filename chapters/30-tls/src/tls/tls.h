// TLS for a server: encrypted connections, with certificates by the client's choice of a host.
//
//   TlsOptions options;
//   options.certificates = {{"/etc/ssl/example.org.pem", "/etc/ssl/private/example.org.key"}};
//   Tls tls(options);
//   ServerOptions server_options;
//   server_options.channel = tls.Channels();
//   HttpServer server(NetAddress("0.0.0.0", 443), {}, server_options);
//   server.Begin();
//
// Interface:
//  * Channels() makes the channel of each connection.
//  * Replace() reads certificates again while the server runs.
//  * Names() are the hosts that have a certificate.
//  * Stats() counts the handshakes.
//  * SaveKeys() and LoadKeys() hand the keys of tickets over to the process that replaces this one.
//
// Thread: the owner's for the constructor and Channels(); any for the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "core/channel.h"
#include "tls/tls_options.h"

namespace TURTLE_SERVER {

class Connection;
class TlsContext;

/// The number of handshakes so far.
struct TlsStats {
  std::uint64_t full = 0;     ///< with a certificate
  std::uint64_t resumed = 0;  ///< with a ticket
  std::uint64_t failed = 0;   ///< refused by either side, or never completed
};

/// The TLS of one server, which it outlives. Another server needs its own, even a later one.
class Tls {
 public:
  /// Called when a handshake has failed, on the thread of the connection's loop. Must not throw.
  using OnRefused = std::function<void(const Connection& connection, const char* reason)>;

  /// Reads all files.
  /// @param options the settings
  /// @param on_refused may be empty
  /// @throws std::system_error, which names the file, if one can't be opened
  /// @throws std::invalid_argument, which names the file and the reason, if one is refused; or if
  ///     there is no certificate
  explicit Tls(const TlsOptions& options, OnRefused on_refused = {});
  ~Tls();
  Tls(const Tls&) = delete;
  auto operator=(const Tls&) -> Tls& = delete;

  /// Returns the function for ServerOptions::channel.
  [[nodiscard]] auto Channels() -> std::function<std::unique_ptr<Channel>(Connection&)>;

  /// Uses other settings for clients from now on; connected ones keep theirs. Tickets stay good, if
  /// the settings still have them, except that `ticket_period` can't be changed.
  /// @throws as the constructor; then the settings stay as they were
  void Replace(const TlsOptions& options);

  /// Does the first half of Replace(): reads all files.
  /// @return for the second half
  /// @throws as the constructor
  [[nodiscard]] auto Read(const TlsOptions& options) const -> std::shared_ptr<const TlsContext>;

  /// Does the second half.
  /// @param context the result of Read() of this object
  void Use(std::shared_ptr<const TlsContext> context) noexcept;

  /// Returns the DNS names of all certificates, in lower case: "example.org", "*.example.org".
  [[nodiscard]] auto Names() const -> std::set<std::string>;

  /// Returns the keys of tickets, as LoadKeys() takes them: a secret.
  [[nodiscard]] auto SaveKeys() const -> std::string;

  /// Uses the keys of another Tls in place of its own: clients with its tickets can resume here.
  /// @param saved the result of its SaveKeys(), a moment ago
  /// @return false: the bytes are not from SaveKeys(), and nothing has changed
  auto LoadKeys(std::string_view saved) -> bool;

  /// Returns how many handshakes there were.
  [[nodiscard]] auto Stats() const noexcept -> TlsStats;

 private:
  class State;
  std::unique_ptr<State> state_;  // so that this header needs none of OpenSSL's
};

}  // namespace TURTLE_SERVER
