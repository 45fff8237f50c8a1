#include "app/https.h"

#include <sys/socket.h>

#include <utility>

#include "core/net_address.h"
#include "log/log.h"
#include "web/https_redirect.h"

namespace TURTLE_SERVER {

// A scanner fails one handshake after another, and a client that refuses our certificate is no
// error of ours: their lines are for those who look for them.
Https::Https(const HttpsOptions& options, std::string_view keys)
    : plain_(options.plain),
      public_port_(options.public_port),
      refusals_(LogLevel::kInfo, "TLS handshake"),
      tls_(TlsOf(options), [this](const Connection& connection, const char* reason) {
        refusals_.Report(connection, reason);
      }) {
  if (!keys.empty() && !tls_.LoadKeys(keys)) {
    Log(LogLevel::kWarning, "hand-over: the keys of TLS tickets are in another format");
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

// Without a port for TLS, all clients come through sockets in the file system, and need no
// redirect.
auto Https::Guard(HandlerFactory handlers) const -> HandlerFactory {
  const std::uint16_t port = public_port_ == 0 ? port_ : public_port_;
  return plain_ == PlainHttp::kRedirect && port != 0 ? HttpsOnly(std::move(handlers), port)
                                                     : handlers;
}

auto Https::IsPlain(const Connection& connection) const noexcept -> bool {
  NetAddress local;
  return ::getsockname(connection.GetFd(), local.Data(), local.Length()) == 0 &&
         (local.Family() == AF_UNIX || plain_ports_.count(local.Port()) != 0);
}

}  // namespace TURTLE_SERVER
