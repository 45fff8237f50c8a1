// The TLS of `turtle serve`: who gets it, and what the others get.
//
// A client has TLS unless it came to a port without it, or to a socket in the file system, where a
// proxy on the same machine has the TLS. So a port of which nothing is known is never one in the
// clear.
//
// Interface:
//  * AddPlainPort() and AddTlsPort() tell the ports, first.
//  * Guard() puts the redirect around handlers, if there is one.
//  * Channels() makes the channels for the clients of all ports.
//  * GetTls() is for reloads, statistics and a successor.
//
// Thread: the owner's, before the server begins; the result of Channels() on all loops.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "app/https_settings.h"
#include "core/channel.h"
#include "core/channel_refusals.h"
#include "core/connection.h"
#include "tls/tls.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// The TLS of one server, which it outlives.
class Https {
 public:
  /// The function for ServerOptions::channel.
  using ChannelMaker = std::function<std::unique_ptr<Channel>(Connection&)>;

  /// Reads all files. Throws as Tls does.
  /// @param options with a certificate
  explicit Https(const HttpsOptions& options);

  /// Notes a port of listeners without TLS.
  /// @throws std::runtime_error if it is one with TLS at another address
  void AddPlainPort(std::uint16_t port);

  /// Notes a port of listeners with TLS. Redirects lead to the first one.
  /// @throws std::runtime_error if it is one without TLS at another address
  void AddTlsPort(std::uint16_t port);

  /// Returns the first port with TLS; 0: there is none yet.
  [[nodiscard]] auto FirstTlsPort() const noexcept -> std::uint16_t { return first_tls_port_; }

  /// Returns the function that makes each client's channel.
  /// @param plain makes that of a client without TLS; may be empty
  [[nodiscard]] auto Channels(ChannelMaker plain) -> ChannelMaker;

  /// Returns `handlers`, with the redirect before them if the options have it. To be called when
  /// the ports are known.
  [[nodiscard]] auto Guard(HandlerFactory handlers) const -> HandlerFactory;

  /// Returns the certificates and tickets.
  [[nodiscard]] auto GetTls() noexcept -> Tls& { return tls_; }

 private:
  void CheckPort(std::uint16_t port) const;
  [[nodiscard]] auto IsPlain(const Connection& connection) const noexcept -> bool;

  const PlainHttp plain_;
  const std::uint16_t public_port_;
  std::uint16_t first_tls_port_ = 0;
  std::set<std::uint16_t> plain_ports_;
  std::set<std::uint16_t> tls_ports_;
  ChannelRefusals refusals_;
  Tls tls_;
};

}  // namespace TURTLE_SERVER
