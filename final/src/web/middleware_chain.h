// Runs the middleware around a handler, from outside to inside.
//
// It is an onion: middleware that a request has entered sees the response in the opposite order,
// wherever that response came from.
//
// Interface:
//  * Enter() calls `before` of each; Leave() calls `after` of those that were entered.
//  * Catch() makes a response from an exception, and calls `error` of each.
//
// Thread: any; constant.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "web/error_formats.h"
#include "web/routes.h"
#include "web/server_request.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

/// The middleware of one group.
class MiddlewareChain {
 public:
  /// Means all middleware of a chain.
  static constexpr auto kAll = static_cast<std::size_t>(-1);

  /// @param around Routes::Around(); the middleware outlives this object
  /// @param errors formats of error pages; outlive this object, too
  MiddlewareChain(std::vector<const Middleware*> around, const ErrorFormats& errors)
      : around_(std::move(around)), errors_(errors) {}

  /// Calls each `before` until one responds or throws.
  /// @param request its head is complete
  /// @param response set if a middleware has responded
  /// @return how many were entered, for Leave(), if there is a response; nullopt to continue
  auto Enter(const ServerRequest& request, ServerResponse& response) const
      -> std::optional<std::size_t>;

  /// Calls each `after`, innermost first. An exception replaces the response.
  /// @param request as it is now
  /// @param response to be sent
  /// @param entered how many were entered
  /// @return false if there was an exception
  auto Leave(const ServerRequest& request, ServerResponse& response,
             std::size_t entered = kAll) const -> bool;

  /// Within a catch block: makes the response for the exception, and calls each `error`.
  /// @param request of the handler that has thrown
  /// @param response overwritten
  void Catch(const ServerRequest& request, ServerResponse& response) const;

  /// Returns true if Leave() has something to call.
  [[nodiscard]] auto HasAfter() const noexcept -> bool;

  /// Returns true if there is no middleware.
  [[nodiscard]] auto Empty() const noexcept -> bool { return around_.empty(); }

 private:
  void Format(const ServerRequest& request, ServerResponse& response) const noexcept {
    errors_.Format(request.Path(), response);
  }
  void Replace(const ServerRequest& request, ServerResponse& response) const;
  void Tell(const ServerRequest& request, ServerResponse& response,
            const std::exception& error) const;

  std::vector<const Middleware*> around_;
  const ErrorFormats& errors_;
};

}  // namespace TURTLE_SERVER
