// The TLS of `turtle serve`: who gets it, and what the others get.
//
// A client has TLS unless it came to a port without it, or to a socket in the file system, where a
// proxy on the same machine has the TLS. So a port of which nothing is known is never one in the
// clear.
//
// Interface:
//  * AddPlainPort() tells which ports are without TLS.
//  * Channels() makes the channels for the clients of all ports.
//  * Guard() puts the redirect around handlers, if there is one.
//  * GetTls() is for reloads, statistics and a successor.
//
// Thread: the owner's, before the server begins; the result of Channels() on all loops.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string_view>

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
  /// @param keys of a predecessor's tickets, Tls::SaveKeys(); "": none. Others are logged and
  ///     ignored: its clients need a full handshake
  Https(const HttpsOptions& options, std::string_view keys);

  /// Notes a port of listeners without TLS.
  void AddPlainPort(std::uint16_t port) { plain_ports_.insert(port); }

  /// Notes the port of the listeners with TLS, for redirects.
  void SetPort(std::uint16_t port) noexcept { port_ = port; }

  /// Returns the function that makes each client's channel.
  /// @param plain makes that of a client without TLS; may be empty
  [[nodiscard]] auto Channels(ChannelMaker plain) -> ChannelMaker;

  /// Returns `handlers`, with the redirect before them if the options have it. To be called when
  /// the ports are known.
  [[nodiscard]] auto Guard(HandlerFactory handlers) const -> HandlerFactory;

  /// Returns the certificates and tickets.
  [[nodiscard]] auto GetTls() noexcept -> Tls& { return tls_; }

 private:
  [[nodiscard]] auto IsPlain(const Connection& connection) const noexcept -> bool;

  const PlainHttp plain_;
  const std::uint16_t public_port_;
  std::uint16_t port_ = 0;
  std::set<std::uint16_t> plain_ports_;
  ChannelRefusals refusals_;
  Tls tls_;
};

}  // namespace TURTLE_SERVER
