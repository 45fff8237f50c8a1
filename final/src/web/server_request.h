// A request as a route's handler sees it.
//
// Interface:
//  * Parameter() and Integer() return parts of the path, Query() fields after its '?'.
//  * Header(), Cookie() and Body() return the client's data; Json() and Form() return the body,
//    parsed.
//  * Set(), Get() and Find() access its context: values stored by middleware, by type.
//  * Source() returns the client's address, Destination() the server's.
//  * Cancelled() is true once the client no longer waits for the response.
//
// All texts are views, valid until the handler returns. A handler that responds later copies what
// it needs, or all of it: OwnedRequest (web/owned_request.h).
//
// Thread: the loop's, within the handler; a copy's handler may use another.
#pragma once

#include <atomic>
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
#include "web/connection_ends.h"
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
  ConnectionEndsTable ends;   ///< of all connections that were asked for
};

/// A request that has matched a route.
class ServerRequest {
 public:
  /// @param exchange of the request
  /// @param parameters of the route, from the path; copied
  /// @param body all of it; nullptr if there is no body, or if it has not arrived
  /// @param fields memory for parsed parts; the request that parsed last has it to itself
  ServerRequest(Exchange& exchange, const RouteParameters& parameters, std::string* body,
                RequestFields& fields) noexcept;

  /// Refers to copies, all of which outlive it; for OwnedRequest.
  /// @param head as the parser left it
  /// @param ends of the connection
  /// @param parameters as above
  /// @param body all of it
  /// @param fields as above
  /// @param context a copy of the request's
  /// @param cancelled becomes true when the client no longer waits for the response
  ServerRequest(const Request& head, const ConnectionEnds& ends, const RouteParameters& parameters,
                std::string& body, RequestFields& fields, RequestContext& context,
                const std::atomic<bool>& cancelled) noexcept;

  ServerRequest(const ServerRequest&) = delete;
  auto operator=(const ServerRequest&) -> ServerRequest& = delete;

  /// Returns the head, as the parser left it.
  [[nodiscard]] auto Head() const noexcept -> const Request& { return head_; }

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
  [[nodiscard]] auto Body() const noexcept -> std::string_view {
    return body_ != nullptr ? std::string_view(*body_) : std::string_view();
  }

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

  /// Returns the client's address: the one that trusted proxies name (HttpOptions), or else the
  /// connection's, getpeername(2), asked once for each connection. It is empty if the client was
  /// gone before that.
  [[nodiscard]] auto Source() const -> NetAddress;

  /// Returns the server's address of the connection, getsockname(2), asked once for each.
  [[nodiscard]] auto Destination() const -> NetAddress;

  /// Returns true once the client no longer waits for the response. A slow handler on a thread
  /// other than the loop's should check it now and then. On the loop's own thread it is false: the
  /// loop is busy and can't notice.
  [[nodiscard]] auto Cancelled() const noexcept -> bool {
    return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed);
  }

  /// Returns the exchange, for a late response, on the loop's thread; not of a copy.
  [[nodiscard]] auto GetExchange() const noexcept -> Exchange& { return *exchange_; }

 private:
  friend class OwnedRequest;

  Exchange* const exchange_;  // nullptr for a copy
  const Request& head_;
  const ConnectionEnds* const ends_;  // set in a copy
  const RouteParameters parameters_;
  std::string* const body_;
  RequestFields& fields_;
  RequestContext& context_;
  const std::atomic<bool>* const cancelled_;  // set in a copy
};

}  // namespace TURTLE_SERVER
