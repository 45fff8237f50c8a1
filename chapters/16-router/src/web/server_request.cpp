#include "web/server_request.h"

#include <sys/socket.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "http/json.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

auto ServerRequest::Head() const noexcept -> const Request& { return exchange_.GetRequest(); }

auto ServerRequest::Parameter(std::string_view name) const -> std::string_view {
  const auto value = parameters_.Find(name);
  if (!value) {
    throw std::out_of_range("the route has no parameter \"" + std::string(name) + '"');
  }
  return *value;
}

auto ServerRequest::Integer(std::string_view name) const -> std::int64_t {
  const std::string_view text = Parameter(name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::out_of_range("parameter \"" + std::string(name) + "\" is no number of 64 bits");
  }
  return value;
}

auto ServerRequest::Json() const -> nlohmann::json { return ParseJson(body_); }

auto ServerRequest::Source() const -> NetAddress {
  return exchange_.GetConnection().GetPeerAddress();
}

auto ServerRequest::Destination() const -> NetAddress {
  NetAddress address;
  if (::getsockname(exchange_.GetConnection().GetFd(), address.Data(), address.Length()) != 0) {
    return {};
  }
  return address;
}

}  // namespace TURTLE_SERVER
