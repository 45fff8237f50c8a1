#include "app/https.h"

#include <sys/socket.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "core/net_address.h"
#include "web/https_redirect.h"

namespace TURTLE_SERVER {

// A scanner fails one handshake after another, and a client that refuses our certificate is no
// error of ours: their lines are for those who look for them.
Https::Https(const HttpsOptions& options)
    : plain_(options.plain),
      public_port_(options.public_port),
      refusals_(LogLevel::kInfo, "TLS handshake"),
      tls_(TlsOf(options), [this](const Connection& connection, const char* reason) {
        refusals_.Report(connection, reason);
      }) {}

void Https::AddPlainPort(std::uint16_t port) {
  plain_ports_.insert(port);
  CheckPort(port);
}

void Https::AddTlsPort(std::uint16_t port) {
  tls_ports_.insert(port);
  CheckPort(port);
  if (first_tls_port_ == 0) {
    first_tls_port_ = port;
  }
}

// Port 0 may be the same number at two addresses, and a client's port decides about TLS.
void Https::CheckPort(std::uint16_t port) const {
  if (plain_ports_.count(port) != 0 && tls_ports_.count(port) != 0) {
    throw std::runtime_error("port " + std::to_string(port) + " is both with and without TLS");
  }
}

auto Https::Channels(ChannelMaker plain) -> ChannelMaker {
  return [this, plain = std::move(plain),
          encrypted = tls_.Channels()](Connection& connection) -> std::unique_ptr<Channel> {
    if (!IsPlain(connection)) {
      return encrypted(connection);
    }
    return plain ? plain(connection) : nullptr;
  };
}

auto Https::Guard(HandlerFactory handlers) const -> HandlerFactory {
  constexpr std::uint16_t kUsualPort = 443;  // if all clients come through the file system
  const std::uint16_t own = first_tls_port_ == 0 ? kUsualPort : first_tls_port_;
  return plain_ == PlainHttp::kRedirect
             ? HttpsOnly(std::move(handlers), public_port_ == 0 ? own : public_port_)
             : handlers;
}

auto Https::IsPlain(const Connection& connection) const noexcept -> bool {
  NetAddress local;
  return ::getsockname(connection.GetFd(), local.Data(), local.Length()) == 0 &&
         (local.Family() == AF_UNIX || plain_ports_.count(local.Port()) != 0);
}

}  // namespace TURTLE_SERVER
