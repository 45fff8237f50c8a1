// The base of request handlers: files, programs, code.
//
// Thread: that of the loop for which the handler was made.
#pragma once

#include <functional>
#include <memory>

#include "base/namespace.h"

namespace TURTLE_SERVER {

class Exchange;
class Looper;

/// Handles the requests for one part of the site, on one loop.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  /// Responds to `exchange` by Exchange::Reply(), now or after it has returned. It may throw: the
  /// client then gets an error page.
  virtual void Handle(Exchange& exchange) = 0;

 protected:
  RequestHandler() = default;
  RequestHandler(const RequestHandler&) = default;
  auto operator=(const RequestHandler&) -> RequestHandler& = default;
};

/// Makes a handler for a loop. Every loop has its own, so a handler needs no lock.
using HandlerFactory = std::function<std::unique_ptr<RequestHandler>(Looper&)>;

}  // namespace TURTLE_SERVER
