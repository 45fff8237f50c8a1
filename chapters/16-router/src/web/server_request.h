// What a route's handler sees of a request.
//
// Interface:
//  * Parameter(), Integer() are what the path says, Query() what stands behind its '?'.
//  * Header() and Body() are what the client sent, Json() is the body, understood.
//  * Source() and Destination() are the two ends of the connection.
//
// All texts are views, valid until the handler returns. One that answers later copies what it needs
// until then.
//
// Thread: the loop's, within the handler.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/net_address.h"
#include "http/request.h"
#include "http/router.h"

namespace TURTLE_SERVER {

class Exchange;

/// A request for which a route was found.
class ServerRequest {
 public:
  /// @param exchange it belongs to
  /// @param parameters that the path gave the route; copied
  /// @param body all of it
  ServerRequest(const Exchange& exchange, const RouteParameters& parameters,
                std::string_view body) noexcept
      : exchange_(exchange), parameters_(parameters), body_(body) {}

  ServerRequest(const ServerRequest&) = delete;
  auto operator=(const ServerRequest&) -> ServerRequest& = delete;

  /// The head, as the parser left it.
  [[nodiscard]] auto Head() const noexcept -> const Request&;

  /// The path, decoded and without dots: "/users/ada".
  [[nodiscard]] auto Path() const noexcept -> std::string_view { return Head().uri.Path(); }

  /// The target as the client sent it: "/users/ada?full=1".
  [[nodiscard]] auto Target() const noexcept -> std::string_view { return Head().target; }

  /// The value of the route's parameter `name`, decoded.
  /// @throws std::out_of_range if the route has no such parameter
  [[nodiscard]] auto Parameter(std::string_view name) const -> std::string_view;

  /// The value of the route's parameter {name:int}.
  /// @throws std::out_of_range if the route has no such parameter, or if it is no number
  [[nodiscard]] auto Integer(std::string_view name) const -> std::int64_t;

  /// The value of the first field `name` of the head, in any case; nullopt if there is none.
  [[nodiscard]] auto Header(std::string_view name) const -> std::optional<std::string_view> {
    return Head().headers.Find(name);
  }

  /// The whole body; "" without one, and within Middleware::before.
  [[nodiscard]] auto Body() const noexcept -> std::string_view { return body_; }

  /// The body, understood as JSON, whatever Content-Type says.
  /// @throws HttpError 400, with the place of the mistake, if it is none
  [[nodiscard]] auto Json() const -> nlohmann::json;

  /// The client's address, asked of the kernel, getpeername(2); an empty one if it has gone.
  [[nodiscard]] auto Source() const -> NetAddress;

  /// The address that the client has reached, getsockname(2).
  [[nodiscard]] auto Destination() const -> NetAddress;

 private:
  const Exchange& exchange_;
  const RouteParameters parameters_;
  const std::string_view body_;
};

}  // namespace TURTLE_SERVER
