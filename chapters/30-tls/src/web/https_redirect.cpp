#include "web/https_redirect.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "core/net_address.h"
#include "http/encode_path.h"
#include "http/response.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

namespace {

// Returns the host without its port: the colons of "[::1]:80" before the bracket are no port's.
auto WithoutPort(std::string_view host) noexcept -> std::string_view {
  const std::size_t bracket = host.rfind(']');
  return host.substr(0, host.find(':', bracket == std::string_view::npos ? 0 : bracket));
}

// True for a host that means the same to every client. The parser has checked the rest.
auto IsPlain(std::string_view host) noexcept -> bool {
  if (!host.empty() && host.front() == '[') {
    return std::all_of(host.begin() + 1, host.end() - 1,
                       [](char c) { return ascii::HexValue(c) >= 0 || c == ':' || c == '.'; });
  }
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return ascii::IsLetter(c) || ascii::IsDigit(c) || c == '.' || c == '-' || c == '_';
  });
}

// True for the path of a challenge, which has a name after the directory.
auto IsChallenge(std::string_view path) noexcept -> bool {
  constexpr std::string_view kDirectory = "/.well-known/acme-challenge/";
  return path.size() > kDirectory.size() && path.substr(0, kDirectory.size()) == kDirectory;
}

class Redirect final : public RequestHandler {
 public:
  explicit Redirect(std::string port) : port_(std::move(port)) {}

  void Handle(Exchange& exchange) override {
    const Request& request = exchange.GetRequest();
    const std::string_view host = WithoutPort(request.host);
    if (!IsPlain(host)) {
      exchange.Reply(ErrorResponse(400, "The request names no host to redirect to."));
      return;
    }
    std::string target = "https://";
    target.append(host).append(port_).append(EncodePath(request.uri.Path()));
    if (request.uri.HasQuery()) {
      target.append("?").append(request.uri.Query());
    }
    exchange.Reply(ErrorResponse(308).Set("Location", target));
  }

 private:
  const std::string port_;  // with its colon; "" for 443
};

class OnlySecure final : public RequestHandler {
 public:
  OnlySecure(std::unique_ptr<RequestHandler> inner, std::unique_ptr<RequestHandler> redirect)
      : inner_(std::move(inner)), redirect_(std::move(redirect)) {}

  void Handle(Exchange& exchange) override {
    const bool passes = exchange.IsSecure() || IsChallenge(exchange.GetRequest().uri.Path()) ||
                        IsLocal(exchange.GetConnection());
    (passes ? inner_ : redirect_)->Handle(exchange);
  }

 private:
  // By our own address: the client's may be the one that a PROXY header names.
  static auto IsLocal(const Connection& connection) noexcept -> bool {
    NetAddress local;
    return ::getsockname(connection.GetFd(), local.Data(), local.Length()) == 0 &&
           local.Family() == AF_UNIX;
  }

  const std::unique_ptr<RequestHandler> inner_;
  const std::unique_ptr<RequestHandler> redirect_;
};

}  // namespace

auto HttpsRedirect(std::uint16_t https_port) -> HandlerFactory {
  if (https_port == 0) {
    throw std::invalid_argument("https redirect: port 0");
  }
  std::string port = https_port == 443 ? "" : ":" + std::to_string(https_port);
  return [port = std::move(port)](Looper&) { return std::make_unique<Redirect>(port); };
}

auto HttpsOnly(HandlerFactory inner, std::uint16_t https_port) -> HandlerFactory {
  return [inner = std::move(inner), redirect = HttpsRedirect(https_port)](Looper& looper) {
    return std::make_unique<OnlySecure>(inner(looper), redirect(looper));
  };
}

}  // namespace TURTLE_SERVER
