// The middleware around a handler, from outside to inside.
//
// It is an onion: the middleware that a request has entered is left in the opposite order, with
// whatever response there is.
//
// Interface:
//  * Enter() calls `before` of each; Leave() calls `after` of those that were entered.
//  * Catch() makes a response of an exception, and tells `error` of each.
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
  /// Stands for all middleware of a chain.
  static constexpr auto kAll = static_cast<std::size_t>(-1);

  /// @param around Routes::Around(); the middleware outlives this object
  /// @param errors how error pages look; outlive it, too
  MiddlewareChain(std::vector<const Middleware*> around, const ErrorFormats& errors)
      : around_(std::move(around)), errors_(errors) {}

  /// Calls each `before` until one responds or throws.
  /// @param request whose head is there
  /// @param response is set if there is one already
  /// @return how many were entered, for Leave(), if there is a response; nullopt: go on
  auto Enter(const ServerRequest& request, ServerResponse& response) const
      -> std::optional<std::size_t>;

  /// Calls each `after`, innermost first. An exception takes the place of the response.
  /// @param request as it is now
  /// @param response to be sent
  /// @param entered how many
  void Leave(const ServerRequest& request, ServerResponse& response,
             std::size_t entered = kAll) const;

  /// Within a catch block: makes the response for the exception, and calls each `error`.
  /// @param request whose handler has thrown
  /// @param response is written over
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
