// A request as a route's handler sees it.
//
// Interface:
//  * Parameter() and Integer() return parts of the path, Query() fields after its '?'.
//  * Header(), Cookie() and Body() return the client's data; Json() and Form() return the body,
//    parsed.
//  * Set(), Get() and Find() access its context: values stored by middleware, by type.
//  * Source() and Destination() return the addresses of the connection.
//
// All texts are views, valid until the handler returns. A handler that responds later copies what
// it needs.
//
// Thread: the loop's, within the handler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/net_address.h"
#include "http/cookies.h"
#include "http/form.h"
#include "http/json.h"
#include "http/request.h"
#include "http/router.h"
#include "web/request_context.h"

namespace TURTLE_SERVER {

class Exchange;

/// Parts of a request that are parsed when a handler asks for them. Each loop has one and reuses
/// its memory.
struct RequestFields {
  Form query;                 ///< after the '?'
  Form form;                  ///< in the body
  Cookies cookies;            ///< in the head
  bool query_read = false;    ///< of this request
  bool form_read = false;     ///< of this request
  bool cookies_read = false;  ///< of this request
};

/// A request that has matched a route.
class ServerRequest {
 public:
  /// @param exchange of the request
  /// @param parameters of the route, from the path; copied
  /// @param body all of it
  /// @param fields memory for parsed parts; the request that parsed last has it to itself
  ServerRequest(Exchange& exchange, const RouteParameters& parameters, std::string_view body,
                RequestFields& fields) noexcept;

  ServerRequest(const ServerRequest&) = delete;
  auto operator=(const ServerRequest&) -> ServerRequest& = delete;

  /// Returns the head, as the parser left it.
  [[nodiscard]] auto Head() const noexcept -> const Request&;

  /// Returns the path, decoded and without dots: "/users/ada".
  [[nodiscard]] auto Path() const noexcept -> std::string_view { return Head().uri.Path(); }

  /// Returns the target as the client sent it: "/users/ada?full=1".
  [[nodiscard]] auto Target() const noexcept -> std::string_view { return Head().target; }

  /// Returns the value of the route's parameter `name`, decoded.
  /// @throws std::out_of_range if the route has no such parameter
  [[nodiscard]] auto Parameter(std::string_view name) const -> std::string_view;

  /// Returns the value of the route's parameter {name:int}.
  /// @throws std::out_of_range if the route has no such parameter, or if it is not an integer
  [[nodiscard]] auto Integer(std::string_view name) const -> std::int64_t;

  /// Returns the first value of `name` in the query, decoded; nullopt if there is none.
  /// @throws HttpError 400 when it has too many fields
  [[nodiscard]] auto Query(std::string_view name) const -> std::optional<std::string_view> {
    return Query().Find(name);
  }

  /// Returns all fields of the query. Throws as above.
  [[nodiscard]] auto Query() const -> const TURTLE_SERVER::Form&;

  /// Returns the value of the first cookie `name`; nullopt if there is none.
  /// @throws HttpError 431 when there are too many
  [[nodiscard]] auto Cookie(std::string_view name) const -> std::optional<std::string_view>;

  /// Returns the value of the first field `name`, in any case; nullopt if there is none.
  [[nodiscard]] auto Header(std::string_view name) const -> std::optional<std::string_view> {
    return Head().headers.Find(name);
  }

  /// Returns the whole body; "" without one, and within Middleware::before.
  [[nodiscard]] auto Body() const noexcept -> std::string_view { return body_; }

  /// Returns the body, parsed as JSON, whatever Content-Type is.
  /// @return a reader; a value that does not have the expected type gives HttpError 400, too
  /// @throws HttpError 400, with the position of the error, if it is not JSON
  [[nodiscard]] auto Json() const -> RequestJson;

  /// Returns the body, parsed as a form.
  /// @throws HttpError 415 when it is not application/x-www-form-urlencoded, 400 when it has too
  ///     many fields
  [[nodiscard]] auto Form() const -> const TURTLE_SERVER::Form&;

  /// Adds a value to the request's context (web/request_context.h), for middleware and the handler
  /// that run later, and for every `after`, however late the response is.
  /// @tparam T its type, by which it is found
  /// @param value moved into the context
  /// @return the value, valid until the request is over
  template <typename T>
  auto Set(T value) const -> T& {
    return context_.Set<T>(std::move(value));
  }

  /// Returns the value of type `T` in the context; nullptr if there is none.
  template <typename T>
  [[nodiscard]] auto Find() const noexcept -> T* {
    return context_.Find<T>();
  }

  /// Returns the value of type `T` in the context.
  /// @throws std::out_of_range, with the type's name, if there is none: a logged 500
  template <typename T>
  [[nodiscard]] auto Get() const -> T& {
    return context_.Get<T>();
  }

  /// Returns the whole context. A handler that continues on another thread copies it: the snapshot
  /// keeps its values after the client is gone.
  [[nodiscard]] auto Context() const noexcept -> const RequestContext& { return context_; }

  /// Returns the client's address, by getpeername(2); it is empty if the client is gone.
  [[nodiscard]] auto Source() const -> NetAddress;

  /// Returns the server's address of the connection, by getsockname(2).
  [[nodiscard]] auto Destination() const -> NetAddress;

 private:
  const Exchange& exchange_;
  const RouteParameters parameters_;
  const std::string_view body_;
  RequestFields& fields_;
  RequestContext& context_;
};

}  // namespace TURTLE_SERVER
